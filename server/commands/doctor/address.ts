import * as z from "zod";
import { callJson } from "../../calls/json-client";
import type { Config } from "../../config";
import { CallError } from "../../errors";
import { forgedClient, type SelfReport } from "../../features/operator/health";
import { siteOf } from "../../settings/session-domain";
import { answerOf, type Check, checksOf, type Trouble, type Troubles, troubleOf } from "./check";
import { askForReport, type InstallationId } from "./database";

const address = checksOf("APP_URL");
const proxy = checksOf("proxy");
const binding = checksOf("binding");

const leadsElsewhere = "{appUrl} does not lead to this service ({cause})";

const unreached: Troubles = [
  [
    /^unreachable .*(?:CERT|SELF_SIGNED|ALTNAME|UNABLE_TO)/,
    "the certificate of {appUrl} is not trusted ({cause})",
    "mend the proxy's certificate and its chain; NODE_EXTRA_CA_CERTS=FILE trusts an authority of your own",
  ],
  [/^(?:unreachable|timeout)/, leadsElsewhere, "start the service and the proxy, or correct APP_URL and the DNS"],
  [/^redirect/, leadsElsewhere, "set APP_URL to where the redirect leads: scheme, host and port that browsers use"],
  [
    /^/,
    leadsElsewhere,
    "set APP_URL to the address of this service, and let the proxy pass on its paths: docs/applications.md lists them",
  ],
];

type Row = readonly [isWrong: boolean, ...Trouble];

/** Compares how the service sees a request without forwarded headers, and one with forged headers. */
function proxyTroubles(seen: SelfReport, forged: SelfReport, { appUrl, trustedProxies }: Config): Row[] {
  const differs = seen.origin !== appUrl;
  const isHttps = appUrl.startsWith("https:");
  const otherScheme = new URL(seen.origin).protocol !== new URL(appUrl).protocol;
  const found = `the service sees ${seen.origin} instead of ${appUrl}`;
  return [
    [differs && isHttps && trustedProxies === 0, found, "set TRUST_PROXY to the number of proxies in front"],
    [otherScheme && isHttps, found, "let the proxy send X-Forwarded-Proto with the scheme that the browser used"],
    [otherScheme, found, "set APP_URL to the https address that browsers use"],
    [differs, found, "let the proxy send X-Forwarded-Host with the host that the browser used, or keep Host as it is"],
    [
      forged.origin !== seen.origin,
      "a client can choose X-Forwarded-Proto or X-Forwarded-Host",
      "let the proxy set both itself; without a proxy, set TRUST_PROXY=false",
    ],
    [
      forged.client === "forged",
      "a client can choose its own address with X-Forwarded-For",
      "let the proxy add the client's address; TRUST_PROXY must not exceed the number of proxies",
    ],
    [
      trustedProxies !== 0 && forged.client === "connection",
      "the proxy sends no X-Forwarded-For: all clients share one limit",
      "let the proxy send X-Forwarded-For with the client's address",
    ],
  ];
}

async function checkProxy(seen: SelfReport, config: Config): Promise<Check> {
  const { appUrl, trustedProxies } = config;
  const forged = await askForReport(appUrl, {
    "x-forwarded-for": forgedClient,
    "x-forwarded-proto": appUrl.startsWith("https:") ? "http" : "https",
    "x-forwarded-host": "forged.invalid",
  });
  const wrong = proxyTroubles(seen, forged, config).find(([isWrong]) => isWrong);
  if (wrong) return proxy.fail(wrong[1], wrong[2]);
  return proxy.ok(trustedProxies !== 0 ? "sends what TRUST_PROXY expects" : "none trusted; the service sees APP_URL");
}

export async function checkAddress(config: Config, installation: InstallationId): Promise<Check[]> {
  const { appUrl } = config;
  try {
    const report = await askForReport(appUrl);
    if (typeof installation !== "string") {
      const why = installation.unknown;
      const found = `${appUrl} leads to a Latchkey that cannot be compared with this installation: ${why}`;
      return [address.warn(found, "mend the database check, then run this again")];
    }
    if (report.installation !== installation) {
      const found = `${appUrl} leads to another installation of Latchkey`;
      return [address.fail(found, "correct APP_URL, or DATABASE_URL if the service runs with another one")];
    }
    return [address.ok(`${appUrl} leads to this service`), await checkProxy(report, config)];
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    const { reason, code } = error;
    return [address.fail(...troubleOf(unreached, `${reason} ${code}`, { appUrl, cause: String(code ?? reason) }))];
  }
}

const originsShape = z.object({ registering_origins: z.array(z.string()) });

/** Whether browsers may bind sessions: for a whole site, they ask the site's own host. */
export async function checkBinding({ deviceBoundSessions, sessionDomain, appUrl }: Config): Promise<Check[]> {
  if (!deviceBoundSessions) return [];
  const site = sessionDomain === null ? appUrl : siteOf(appUrl);
  if (site === appUrl) return [binding.ok(`sessions of ${appUrl}, in browsers that can bind them to their device`)];
  const url = `${site}/.well-known/device-bound-sessions`;
  const mend = `serve {"registering_origins": ["${appUrl}"]} there, or pass that path on to this service`;
  const answer = await answerOf(callJson(url, { method: "GET" }, originsShape));
  if (typeof answer === "string") {
    return [binding.warn(`no session is bound: ${url} has no list of origins (${answer})`, mend)];
  }
  if (!answer.registering_origins.includes(appUrl)) {
    return [binding.warn(`no session is bound: ${url} does not name ${appUrl}`, mend)];
  }
  return [binding.ok(`sessions of the site ${site}, in browsers that can bind them`)];
}
