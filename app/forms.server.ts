import * as z from "zod";
import { isCrossSite } from "#server/connection.server";
import { methodNotAllowed } from "./responses";

const largestForm = 16_384; // bytes
const largestDiscarded = 8_388_608; // bytes, read to the end so that a browser gets to see the refusal
const formTypes = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)(?:;|$)/i;

/** A form's text: the fields that were sent once and as a string, and those of them that may be shown again. */
export interface FormText {
  given: Record<string, string>;
  typed: Record<string, string>;
}

export type Form<Values> = { typed: Record<string, string> } & (
  | { ok: true; values: Values }
  | { ok: false; errors: Record<string, string> }
);

function refuse(status: 403 | 413 | 415, statusText: string): Response {
  return new Response(null, { status, statusText, headers: status === 413 ? { Connection: "close" } : {} });
}

async function readBody(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  const stated = Number(request.headers.get("Content-Length"));
  if (stated > largestDiscarded) throw refuse(413, "Content Too Large");
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    size += part.value.byteLength;
    if (size > largestDiscarded) break;
    if (size <= largestForm) chunks.push(part.value);
  }
  if (Math.max(size, stated) > largestForm) throw refuse(413, "Content Too Large");
  return new Uint8Array(Buffer.concat(chunks));
}

async function readFields(request: Request): Promise<FormData> {
  if (request.method !== "POST") throw methodNotAllowed("POST");
  if (isCrossSite(request)) throw refuse(403, "Forbidden");
  const type = request.headers.get("Content-Type") ?? "";
  if (!formTypes.test(type)) throw refuse(415, "Unsupported Media Type");
  const body = await readBody(request);
  try {
    return await new Response(body, { headers: { "Content-Type": type } }).formData();
  } catch {
    return new FormData();
  }
}

const isSecret = (name: string) => /^password/.test(name);

/**
 * Reads the named fields of a form; one that is repeated, or a file, counts as missing.
 *
 * @throws Response 403 from another site, 405 for another method, 413 over 16 KiB, 415 for another content type
 */
export async function readText(request: Request, names: string[]): Promise<FormText> {
  const fields = await readFields(request);
  const given: Record<string, string> = {};
  const typed: Record<string, string> = {};
  for (const name of names) {
    const [value, ...more] = fields.getAll(name);
    if (typeof value !== "string") continue;
    if (more.length === 0) given[name] = value;
    if (!isSecret(name)) typed[name] = value;
  }
  return { given, typed };
}

/**
 * Reads a form's fields as `schema` wants them.
 *
 * @throws Response as {@link readText} does
 */
export async function readForm<Shape extends z.ZodRawShape>(
  request: Request,
  schema: z.ZodObject<Shape>,
): Promise<Form<z.output<z.ZodObject<Shape>>>> {
  const { given, typed } = await readText(request, Object.keys(schema.shape));
  const parsed = schema.safeParse(given);
  if (parsed.success) return { ok: true, values: parsed.data, typed };
  const errors = parsed.error.issues.map(({ path, message }) => [String(path[0]), message]);
  return { ok: false, errors: Object.fromEntries(errors), typed };
}

/** A field that has to be sent; empty where the rules of the form say what is missing. */
export const text = z.string("This field is missing, or was sent twice.");

/** A field that has to be an address; as it is stored. */
export { emailAddress } from "#server/email-address.server";
