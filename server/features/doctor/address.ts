import * as z from "zod";
import type { Config } from "../../config";
import { CallError, callJson } from "../../http/json-client";
import { forgedClient, type SelfReport } from "../health.server";
import { type Check, checksOf } from "./check";

const address = checksOf("APP_URL");
const proxy = checksOf("proxy");

const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text;

const selfReport: z.ZodType<SelfReport> = z.object({
  installation: z.uuid().nullable(),
  origin: z.string().refine(isOrigin),
  client: z.enum(["connection", "proxy", "forged"]),
});

const ask = (origin: string, headers: Record<string, string> = {}) =>
  callJson(`${origin}/healthz?doctor`, { method: "GET", headers }, selfReport);

/** Where a service on this machine listens. */
const localOrigin = ({ port }: Config) => `http://${process.env.HOST ?? "localhost"}:${port}`;

function unreached(error: CallError, { appUrl }: Config): Check {
  const { reason, code } = error;
  const found = `${appUrl} does not lead to this service (${code ?? reason})`;
  if (reason === "unreachable" && /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO/.test(String(code))) {
    return address.fail(
      `the certificate of ${appUrl} is not trusted (${code})`,
      "mend the proxy's certificate and its chain; NODE_EXTRA_CA_CERTS=FILE trusts an authority of your own",
    );
  }
  if (reason === "unreachable" || reason === "timeout") {
    return address.fail(found, "start the service and the proxy, or correct APP_URL and the DNS");
  }
  if (reason.startsWith("redirect")) {
    return address.fail(found, "set APP_URL to where the redirect leads: scheme, host and port that browsers use");
  }
  return address.fail(found, "set APP_URL to the address of this service, and let the proxy pass on every path to it");
}

/** What the service sees of a request that carries no forwarded header of its own. */
function checkOrigin({ origin }: SelfReport, { appUrl, trustedProxies }: Config): Check | null {
  if (origin === appUrl) return null;
  const [seen, expected] = [new URL(origin), new URL(appUrl)];
  const found = `the service sees ${origin} instead of ${appUrl}`;
  if (trustedProxies === 0 && expected.protocol === "https:") {
    return proxy.fail(
      found,
      "set TRUST_PROXY to the number of proxies, and let the proxy send X-Forwarded-Proto, -Host and -For",
    );
  }
  if (seen.protocol !== expected.protocol && expected.protocol === "https:") {
    return proxy.fail(found, "let the proxy send X-Forwarded-Proto with the scheme that the browser used");
  }
  if (seen.protocol !== expected.protocol) {
    return proxy.fail(found, "set APP_URL to the https address that browsers use");
  }
  return proxy.fail(
    found,
    "let the proxy send X-Forwarded-Host with the host that the browser used, or keep Host as it is",
  );
}

/** Whether the proxy replaces what a client forges. */
async function checkForgery(report: SelfReport, { appUrl, trustedProxies }: Config): Promise<Check> {
  const forged = await ask(appUrl, {
    "x-forwarded-for": forgedClient,
    "x-forwarded-proto": appUrl.startsWith("https:") ? "http" : "https",
    "x-forwarded-host": "forged.invalid",
  });
  if (forged.origin !== report.origin) {
    return proxy.fail(
      "a client can choose X-Forwarded-Proto or X-Forwarded-Host",
      "let the proxy set both itself; without a proxy, set TRUST_PROXY=false",
    );
  }
  if (forged.client === "forged") {
    return proxy.fail(
      "a client can choose its own address with X-Forwarded-For",
      "let the proxy add the client's address; TRUST_PROXY must not exceed the number of proxies",
    );
  }
  if (trustedProxies > 0 && forged.client === "connection") {
    return proxy.fail(
      "the proxy sends no X-Forwarded-For: all clients share one limit",
      "let the proxy send X-Forwarded-For with the client's address",
    );
  }
  return proxy.ok(trustedProxies > 0 ? "sends what TRUST_PROXY expects" : "none trusted; the service sees APP_URL");
}

/**
 * Whether `APP_URL` leads to this installation, and whether the proxy in front sends what `TRUST_PROXY` expects.
 *
 * @param installationId `null` when the database does not tell; then the service on this machine is asked
 */
export async function checkAddress(config: Config, installationId: string | null): Promise<Check[]> {
  const { appUrl } = config;
  try {
    const report = await ask(appUrl);
    const expected =
      installationId ??
      (await ask(localOrigin(config)).then(
        ({ installation }) => installation,
        () => null,
      ));
    if (expected !== null && report.installation !== expected) {
      return [
        address.fail(
          `${appUrl} leads to another installation of Latchkey`,
          "correct APP_URL, or DATABASE_URL if the service runs with another one",
        ),
      ];
    }
    const reached =
      expected === null
        ? address.warn(
            `${appUrl} leads to a Latchkey, perhaps another one`,
            "mend the database check, then run this again",
          )
        : address.ok(`${appUrl} leads to this service`);
    return [reached, checkOrigin(report, config) ?? (await checkForgery(report, config))];
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return [unreached(error, config)];
  }
}
