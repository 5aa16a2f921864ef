import type { LookupAddress } from "node:dns";
import { resolveTxt } from "node:dns/promises";
import { getDomain } from "tldts";
import type { Config } from "../../config";
import { forgedClient, probeHeader, seenShape } from "../../features/operator/probe";
import { parseSender } from "../../mail-services/service";
import { contentSecurityPolicy, strictTransportMaxAge } from "../../rules";
import { siteOf } from "../../settings/session-domain";
import { type Check, checksOf, type Findings, findingOf } from "./check";
import { addressesOf, ask, codeOf, forwardedByNobody, type ProbedResponse, probeUrl } from "./stranger";

/** A secret for one request of the probe, or why there is none. */
type MintProbe = () => Promise<string | { unknown: string }>;

interface Outside {
  config: Config;
  mintProbe: MintProbe;
  /** URLs of applications, which are asked in place of their first pages; also those past the proxy. */
  at: string[];
}

/** Asks the installation's public origins, at each of their addresses, what anybody can ask. */
export async function* checkOutside(outside: Outside): AsyncGenerator<Check> {
  const { appUrl, returnOrigins } = outside.config;
  const origins = [...new Set([appUrl, ...returnOrigins, ...outside.at.map((url) => new URL(url).origin)])];
  const named = origins.filter((origin) => !origin.includes("*"));
  const found = await Promise.all(
    named.map(async (origin) => [origin, await addressesOf(origin).catch(codeOf)] as const),
  );
  const isOffline = found.every(([, addresses]) => typeof addresses === "string");
  for (const [origin, addresses] of found) {
    if (typeof addresses !== "string") {
      for (const address of addresses) yield* await checkOrigin(outside, origin, address);
    } else if (isOffline) yield name(origin).skip(`no name resolves here (${addresses}): there is no network`);
    else yield name(origin).fail(...silence(origin, { code: addresses }));
  }
  for (const origin of origins.filter((one) => one.includes("*")))
    yield checksOf(origin).skip("a wildcard names no host");
  yield* isOffline ? [checksOf("mail DNS").skip("there is no network")] : await checkMailDomain(outside.config);
}

const noName = /^(?:ENOTFOUND|EAI_AGAIN|ENODATA)$/;
const noRoute = /^(?:ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL)$/;
const untrusted = /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO/;

/** Headers of a navigation and of a script, with a forged user. */
const nobody = "doctor@latchkey.invalid";
const forgedUser = { "Remote-User": nobody, Remote_User: nobody, "Remote-Email": nobody, "Remote-Token": "forged" };
const navigation = { "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", Accept: "text/html" };
const script = { "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty", Accept: "*/*" };

async function checkOrigin(outside: Outside, origin: string, address: LookupAddress): Promise<Check[]> {
  const { config, at } = outside;
  const isOwn = origin === config.appUrl;
  try {
    const first = await ask(isOwn ? `${origin}/login` : `${origin}/`, address, navigation);
    const pages = at.filter((url) => new URL(url).origin === origin);
    return [
      await checkRedirect(origin, address),
      ...certificateCheck(origin, first.certificate),
      ...(isOwn ? [checkHeaders(origin, first), await checkForged(outside, address)] : []),
      ...(await Promise.all(
        (pages.length > 0 ? pages : [`${origin}/`]).map((url) => checkApplication(outside, url, address)),
      )),
      await checkOwnPaths(outside, origin, address),
      ...(isOwn ? await checkFiles(outside, address) : []),
    ];
  } catch (error) {
    if (noRoute.test(codeOf(error))) return [name(origin).skip(`${address.address}: this machine has no route there`)];
    return [name(origin).fail(...silence(`${origin} (${address.address})`, error))];
  }
}

/** Port 80 of an https origin. */
async function checkRedirect(origin: string, address: LookupAddress): Promise<Check> {
  const { ok, skip, fail } = name(origin);
  const { protocol, port, host } = new URL(origin);
  if (protocol !== "https:" || port !== "") return skip("http leads to https: only asked of https on the default port");
  try {
    const found = redirectFinding(origin, await ask(`http://${host}/`, address));
    if (found === null) return ok("http leads to https");
    return fail(found, `redirect port 80 to ${origin}`);
  } catch (error) {
    if (codeOf(error) === "ECONNREFUSED") return ok("nothing listens on port 80");
    return fail(...silence(`http://${host}`, error));
  }
}

export function redirectFinding(origin: string, response: Pick<ProbedResponse, "status" | "location">): string | null {
  const target = URL.canParse(response.location ?? "") ? new URL(response.location ?? "") : null;
  const leads = response.status >= 300 && response.status < 400 && target?.origin === origin;
  return leads ? null : `http://${new URL(origin).host} answers ${response.status} and does not lead to https`;
}

const silences: Findings = [
  [
    untrusted,
    "the certificate at {at} is not trusted ({code})",
    "give the proxy a certificate of this name with its chain",
  ],
  [
    /^timeout$/,
    "{at} does not answer in 10 s",
    "open the firewall; a machine behind NAT may not reach its own address",
  ],
  [/^ECONNREFUSED$/, "{at} refuses the connection", "start the proxy, or correct the port in the setting, or the DNS"],
  [noName, "the name of {at} does not resolve", "correct the setting, or add the name to the DNS"],
  [/^/, "{at} does not answer ({code})", "let the proxy speak the scheme of the setting there"],
];

const silence = (at: string, error: unknown) => findingOf(silences, codeOf(error), { at, code: codeOf(error) });

const day = 86_400_000; // ms

export function certificateCheck(
  origin: string,
  certificate: ProbedResponse["certificate"],
  now = Date.now(),
): Check[] {
  if (!certificate) return [];
  const { from, until } = certificate;
  const left = until.getTime() - now;
  const days = Math.floor(left / day);
  const isShort = left < 14 * day && left < (until.getTime() - from.getTime()) / 3;
  if (!isShort) return [name(origin).ok(`the certificate is trusted for ${days} more days`)];
  return [name(origin).warn(`the certificate ends in ${days} days`, "see why the proxy does not renew it")];
}

function checkHeaders(origin: string, response: ProbedResponse): Check {
  const found = headersFinding(response, origin.startsWith("https:"));
  if (found === null) return name(origin).ok("the pages' headers arrive as Latchkey sends them");
  return name(origin).fail(found, "let the proxy neither add nor change security headers of Latchkey's paths");
}

/** What is wrong with the headers of a page. */
export function headersFinding({ headers }: Pick<ProbedResponse, "headers">, isHttps: boolean): string | null {
  const required = [
    "content-security-policy",
    "x-content-type-options",
    ...(isHttps ? ["strict-transport-security"] : []),
  ];
  for (const header of required) {
    const count = headers[header]?.length ?? 0;
    if (count !== 1) return `${header} arrives ${count === 0 ? "not at all" : `${count} times`}`;
  }
  const policy = headers["content-security-policy"]?.[0] ?? "";
  if (directivesOf(policy) !== directivesOf(contentSecurityPolicy("")))
    return "content-security-policy is not Latchkey's";
  if (headers["x-content-type-options"]?.[0] !== "nosniff") return "x-content-type-options is not nosniff";
  const maxAge = Number(/max-age="?(\d+)/i.exec(headers["strict-transport-security"]?.[0] ?? "")?.[1] ?? 0);
  return isHttps && maxAge < strictTransportMaxAge
    ? "strict-transport-security has a shorter max-age than Latchkey's"
    : null;
}

const directivesOf = (policy: string) =>
  policy
    .split(";")
    .map((directive) => directive.trim().replace(/ 'nonce-[^']*'/, ""))
    .sort()
    .join("; ");

async function checkForged({ config, mintProbe }: Outside, address: LookupAddress): Promise<Check> {
  const { appUrl } = config;
  const { ok, skip, fail } = name(appUrl);
  const secret = await mintProbe();
  if (typeof secret !== "string") return skip(`forged headers: ${secret.unknown}`);
  const seen = await probe(appUrl, address, secret);
  const at = `${appUrl} (${address.address})`;
  if (!seen) return fail(`${at} does not lead to this service`, "correct APP_URL, or pass /auth/ on to this service");
  if (seen.client === forgedClient) {
    return fail(`${at}: a client chooses its own address with X-Forwarded-For`, "let the proxy set the header itself");
  }
  if (new URL(seen.origin).hostname === "forged.invalid") {
    return fail(`${at}: a client chooses the host with X-Forwarded-Host`, "let the proxy set the header itself");
  }
  if (seen.origin === appUrl) return ok(`${at} believes no forged X-Forwarded header`);
  return fail(
    `${at}: the service sees ${JSON.stringify(seen.origin)}`,
    "let the proxy set X-Forwarded-Proto and -Host; set TRUST_PROXY to the number of proxies, and APP_URL to the browsers' origin",
  );
}

async function checkApplication({ config }: Outside, url: string, address: LookupAddress): Promise<Check> {
  const { appUrl } = config;
  const { ok, fail } = name(url);
  const page = await ask(url, address, { ...forgedUser, ...navigation });
  const data = await ask(url, address, { ...forgedUser, ...script });
  const location = new URL(page.location ?? "", url);
  const leads = page.status === 302 && location.origin === appUrl && location.pathname === "/login";
  const isOwn = leads && location.search === "" && data.status === 302; // Latchkey's own first page
  if (isOwn) return ok(`${url} is Latchkey's own page: no application is there`);
  if (leads && data.status === 401) return ok(`${url} asks everybody to sign in`);
  if (page.status === 200 || data.status === 200) {
    return fail(
      `${url} answers 200 to a forged Remote-User without a session`,
      "let the proxy ask /auth/verify there and remove Remote-*; `--at URL` names another page if this one is public",
    );
  }
  return fail(
    `${url} answers ${page.status} to a navigation and ${data.status} to a script, not 302 to /login and 401`,
    "let the proxy ask /auth/verify with X-Forwarded-Uri: docs/applications.md",
  );
}

/** What no stranger may have at any origin, and Latchkey's own answers at an application's. */
async function checkOwnPaths({ config, mintProbe }: Outside, origin: string, address: LookupAddress): Promise<Check> {
  const { ok, fail } = name(origin);
  const fix = "let the proxy pass on the paths of docs/applications.md alone, and only at APP_URL";
  const metrics = await ask(`${origin}/metrics`, address);
  if (metrics.status === 200 && metrics.body.includes("latchkey_")) return fail(`${origin}/metrics is public`, fix);
  const dev = await ask(`${origin}/dev/session`, address, navigation);
  if (dev.status === 200 && dev.body.includes('action="/dev/session"'))
    return fail(`${origin}/dev/session is public`, fix);
  const secret = origin === config.appUrl ? null : await mintProbe();
  if (typeof secret === "string" && (await probe(origin, address, secret))) {
    return fail(`${origin} leads to Latchkey, too`, fix);
  }
  return ok("metrics and /dev pages are not public");
}

/** @returns what the service saw of a request with forged headers; `null` if it does not answer there */
async function probe(origin: string, address: LookupAddress, secret: string) {
  const { status, body } = await ask(probeUrl(origin), address, {
    ...forwardedByNobody(origin),
    [probeHeader]: secret,
  });
  try {
    return status === 200 ? (seenShape.safeParse(JSON.parse(body)).data ?? null) : null;
  } catch {
    return null;
  }
}

async function checkFiles({ config }: Outside, address: LookupAddress): Promise<Check[]> {
  const { appUrl, deviceBoundSessions, sessionDomain, identityKey, relyingPartyId } = config;
  const site = sessionDomain === null ? appUrl : siteOf(appUrl);
  const passkeySite = [new URL(appUrl).hostname, null].includes(relyingPartyId) ? appUrl : `https://${relyingPartyId}`;
  const files: [string, boolean, RegExp][] = [
    [`${appUrl}/.well-known/change-password`, true, /^302 /],
    [`${passkeySite}/.well-known/passkey-endpoints`, relyingPartyId !== null, /^200 .*"enroll"/],
    [`${appUrl}/.well-known/jwks.json`, identityKey !== null, /^200 .*"keys"/],
    [`${site}/.well-known/device-bound-sessions`, deviceBoundSessions, /^200 .*"registering_origins"/],
  ];
  const { ok, fail } = name(appUrl);
  const checks: Check[] = [];
  for (const [url, isExpected, pattern] of files) {
    if (!isExpected) continue;
    const fix = "pass this path on to Latchkey";
    try {
      const at = url.startsWith(`${appUrl}/`) ? address : ((await addressesOf(url))[0] ?? address);
      const { status, body } = await ask(url, at);
      if (!pattern.test(`${status} ${body}`)) checks.push(fail(`${url} is missing (${status})`, fix));
    } catch (error) {
      checks.push(fail(`${url} is missing (${codeOf(error)})`, fix));
    }
  }
  return checks.length > 0 ? checks : [ok("the files of /.well-known/ are where they belong")];
}

const name = (origin: string) => checksOf(new URL(origin).host);

const refusing = "large mail services refuse such mail";

/** SPF (RFC 7208) and DMARC (RFC 7489, 6.6.3) of the sender's domain. */
async function checkMailDomain({ mail }: Config): Promise<Check[]> {
  const { ok, skip, warn } = checksOf("mail DNS");
  if (mail.driver === "log") return [skip("log: no mail is sent")];
  const domain = parseSender(mail.from).address.split("@").at(-1) ?? "";
  try {
    const spf = mail.driver === "smtp" ? await txt(domain, "v=spf1") : 1;
    const own = await txt(`_dmarc.${domain}`, "v=dmarc1");
    const dmarc = own || (await txt(`_dmarc.${getDomain(domain) ?? domain}`, "v=dmarc1"));
    const line = (kind: string, count: number) =>
      count === 1
        ? ok(`${domain} has ${kind}`)
        : warn(
            `${domain} has ${count === 0 ? "no" : count} ${kind} record${count > 1 ? "s" : ""}`,
            `publish one: ${refusing}`,
          );
    return [...(mail.driver === "smtp" ? [line("SPF", spf)] : []), line("DMARC", dmarc)];
  } catch (error) {
    return [skip(`the DNS does not answer (${codeOf(error)})`)];
  }
}

const txt = async (domain: string, start: string): Promise<number> => {
  const records = await resolveTxt(domain).catch((error: unknown) => {
    if (/^(?:ENOTFOUND|ENODATA)$/.test(codeOf(error))) return [];
    throw error;
  });
  return records.filter((record) => record.join("").toLowerCase().startsWith(start)).length;
};
