import { config } from "#server/config";
import { factsOf } from "#server/door/request-facts";
import type { PasswordProblem } from "#server/features/visitor/password-policy";
import type { AnswerTexts } from "#server/languages/texts";
import type { Translate } from "#server/languages/translate";
import { longestPassword } from "#server/rules";
import { methodNotAllowed } from "~/answers/responses";

const largestForm = 16_384; // bytes
const largestDiscarded = 8_388_608; // bytes; read to the end, because a browser shows no answer while it still sends
const formTypes = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)(?:;|$)/i;

/**
 * Reads the named fields of a form: as they were `sent`, and with "" for a missing one as `fields`. A field that is
 * repeated, or a file, counts as missing. Throws a Response: 403 from another site, 405 for another method, 413 over
 * 16 KiB, 415 for another content type. @returns `typed`: what the page may show again, so no password and no answer of
 * an authenticator
 */
export async function readFields<Name extends string>(request: Request, ...names: Name[]) {
  const form = await readFormData(request);
  const sent: Partial<Record<Name, string>> = {};
  const typed: Record<string, string> = {};
  for (const name of names) {
    const [value, ...more] = form.getAll(name);
    if (typeof value !== "string") continue;
    if (more.length === 0) sent[name] = value;
    if (!isSecretField(name)) typed[name] = value;
  }
  const blank = Object.fromEntries(names.map((name) => [name, ""])) as Record<Name, string>;
  return { fields: { ...blank, ...sent }, sent, typed };
}

async function readFormData(request: Request): Promise<FormData> {
  if (request.method !== "POST") throw methodNotAllowed("GET, HEAD, POST");
  if (factsOf(request).crossSite) throw formRefused(403, "Forbidden");
  const type = request.headers.get("Content-Type") ?? "";
  if (!formTypes.test(type)) throw formRefused(415, "Unsupported Media Type");
  const body = await readBody(request, largestForm);
  try {
    return await new Response(body, { headers: { "Content-Type": type } }).formData();
  } catch {
    return new FormData();
  }
}

/** @throws Response: 413 for more than `largest` bytes */
export async function readBody(request: Request, largest: number): Promise<Uint8Array<ArrayBuffer>> {
  const stated = Number(request.headers.get("Content-Length"));
  if (stated > largestDiscarded) throw formRefused(413, "Content Too Large");
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    size += part.value.byteLength;
    if (size > largestDiscarded) break;
    if (size <= largest) chunks.push(part.value);
  }
  if (Math.max(size, stated) > largest) throw formRefused(413, "Content Too Large");
  return new Uint8Array(Buffer.concat(chunks));
}

const formRefused = (status: 403 | 413 | 415, statusText: string) =>
  new Response(null, { status, statusText, headers: status === 413 ? { Connection: "close" } : {} });

const isSecretField = (name: string) => /pass(?:word|key)/i.test(name);

export function passwordMessage(t: Translate<AnswerTexts>, problem: PasswordProblem): Record<string, string> {
  if (problem === "unconfirmed") return { passwordConfirmation: t("password.unconfirmed") };
  const messages = {
    too_short: t("password.tooShort", { count: config().passwords.minimumLength }),
    too_long: t("password.tooLong", { count: longestPassword }),
    common: t("password.common"),
    breached: t("password.breached"),
    is_the_email: t("password.isTheEmail"),
    is_the_service: t("password.isTheService"),
  };
  return { password: messages[problem] };
}
