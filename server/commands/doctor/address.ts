import * as z from "zod";
import { callJson } from "../../calls/json-client";
import type { Config } from "../../config";
import { CallError } from "../../errors";
import { forgedClient, probeHeader, type SeenRequest, seenShape } from "../../features/operator/probe";
import { siteOf } from "../../settings/session-domain";
import { CommandError } from "../program";
import { answerOf, type Check, checksOf, type Finding, type Findings, findingOf } from "./check";
import { mintProbe } from "./database";
import { forwardedByNobody, probeUrl } from "./stranger";

const address = checksOf("APP_URL");
const proxy = checksOf("proxy");
const binding = checksOf("binding");

const leadsElsewhere = "{appUrl} does not lead to this service ({cause})";

const unreached: Findings = [
  [
    /^unreachable .*(?:CERT|SELF_SIGNED|ALTNAME|UNABLE_TO)/,
    "the certificate of {appUrl} is not trusted ({cause})",
    "fix the proxy's certificate and its chain; NODE_EXTRA_CA_CERTS=FILE trusts an authority of your own",
  ],
  [/^(?:unreachable|timeout)/, leadsElsewhere, "start the service and the proxy, or correct APP_URL and the DNS"],
  [/^redirect/, leadsElsewhere, "set APP_URL to where the redirect leads: scheme, host and port that browsers use"],
  [
    /^/,
    leadsElsewhere,
    "run the service with this database, set APP_URL to its address, and let the proxy pass on its paths (docs/applications.md)",
  ],
];

export async function checkAddress(config: Config): Promise<Check[]> {
  const { appUrl } = config;
  try {
    const seen = await askForSeen(config);
    return [address.ok(`${appUrl} leads to this service`), await checkProxy(seen, config)];
  } catch (error) {
    if (error instanceof CommandError) {
      return [address.skip(`${appUrl} is not asked: ${error.message.replace(/\.$/, "")}`)];
    }
    if (!(error instanceof CallError)) throw error;
    const { reason, code } = error;
    return [address.fail(...findingOf(unreached, `${reason} ${code}`, { appUrl, cause: String(code ?? reason) }))];
  }
}

async function checkProxy(seen: SeenRequest, config: Config): Promise<Check> {
  const { appUrl, trustedProxies } = config;
  const forged = await askForSeen(config, forwardedByNobody(appUrl));
  const wrong = proxyFindings(seen, forged, config).find(([isWrong]) => isWrong);
  if (wrong) return proxy.fail(wrong[1], wrong[2]);
  return proxy.ok(trustedProxies !== 0 ? "sends what TRUST_PROXY expects" : "none trusted; the service sees APP_URL");
}

/** How the service sees a request. @throws CallError, and CommandError where it cannot be asked */
async function askForSeen({ appUrl }: Config, forged: Record<string, string> = {}): Promise<SeenRequest> {
  const secret = await mintProbe();
  if (typeof secret !== "string") throw new CommandError(secret.unknown);
  return callJson(probeUrl(appUrl), { method: "GET", headers: { ...forged, [probeHeader]: secret } }, seenShape);
}

type Row = readonly [isWrong: boolean, ...Finding];

/** Compares how the service sees a request without forwarded headers, and one with forged headers. */
function proxyFindings(
  seen: SeenRequest,
  forged: SeenRequest,
  { appUrl, trustedProxies, accessTokens }: Config,
): Row[] {
  const differs = seen.origin !== appUrl;
  const expectsHttps = appUrl.startsWith("https:");
  const otherScheme = new URL(seen.origin).protocol !== new URL(appUrl).protocol;
  const found = `the service sees ${seen.origin} instead of ${appUrl}`;
  return [
    [differs && expectsHttps && trustedProxies === 0, found, "set TRUST_PROXY to the number of proxies in front"],
    [otherScheme && expectsHttps, found, "let the proxy send X-Forwarded-Proto with the scheme that the browser used"],
    [otherScheme, found, "set APP_URL to the https address that browsers use"],
    [differs, found, "let the proxy send X-Forwarded-Host with the host that the browser used, or keep Host as it is"],
    [
      forged.origin !== seen.origin,
      "a client can choose X-Forwarded-Proto or X-Forwarded-Host",
      "let the proxy set both itself; without a proxy, set TRUST_PROXY=false",
    ],
    [
      forged.client === forgedClient,
      "a client can choose its own address with X-Forwarded-For",
      "let the proxy add the client's address; TRUST_PROXY must not exceed the number of proxies",
    ],
    [
      trustedProxies !== 0 && !forged.clientForwarded,
      "the proxy sends no X-Forwarded-For: all clients share one limit",
      "let the proxy send X-Forwarded-For with the client's address",
    ],
    [
      accessTokens !== null && trustedProxies !== 0 && !seen.hostForwarded,
      "the proxy sends no X-Forwarded-Host: no access token counts",
      "let the proxy send X-Forwarded-Host with the host that the browser used",
    ],
  ];
}

const originsShape = z.object({ registering_origins: z.array(z.string()) });

/** Whether browsers may bind sessions: for a whole site, they ask the site's own host. */
export async function checkBinding({ deviceBoundSessions, sessionDomain, appUrl }: Config): Promise<Check[]> {
  if (!deviceBoundSessions) return [];
  const site = sessionDomain === null ? appUrl : siteOf(appUrl);
  if (site === appUrl) return [binding.ok(`sessions of ${appUrl}, in browsers that can bind them to their device`)];
  const url = `${site}/.well-known/device-bound-sessions`;
  const fix = `serve {"registering_origins": ["${appUrl}"]} there, or pass that path on to this service`;
  const answer = await answerOf(callJson(url, { method: "GET" }, originsShape));
  if (typeof answer === "string") {
    return [binding.warn(`no session is bound: ${url} has no list of origins (${answer})`, fix)];
  }
  if (!answer.registering_origins.includes(appUrl)) {
    return [binding.warn(`no session is bound: ${url} does not name ${appUrl}`, fix)];
  }
  return [binding.ok(`sessions of the site ${site}, in browsers that can bind them`)];
}
