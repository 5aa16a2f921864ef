import ky from "ky";
import type * as z from "zod";

const deadline = 5_000; // ms, from the start of the call to the end of the answer's body
const largestAnswer = 1_048_576; // bytes, decoded

export type CallFailure = "timeout" | "unreachable" | "redirect" | "status" | "too_large" | "not_json" | "unexpected";

/** A call to another service did not give a JSON answer. Never holds what was sent or answered. */
export class CallError extends Error {
  override name = "CallError";
  readonly code: CallFailure;
  readonly status: number | null;

  constructor(code: CallFailure, status: number | null = null) {
    super(status === null ? code : `${code} ${status}`);
    this.code = code;
    this.status = status;
  }
}

export interface Call {
  method: "GET" | "POST";
  headers?: Record<string, string>;
  body?: string;
  /** Sent as `application/json` in the place of `body`. */
  json?: unknown;
}

/** undici drops the signal of a request that was garbage-collected while its body stalls: a listener keeps it. */
async function readBounded({ body }: Response, signal: AbortSignal): Promise<string> {
  if (!body) return "";
  const reader = body.getReader();
  const stop = () => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", stop);
  try {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      size += read.value.byteLength;
      if (size > largestAnswer) throw new CallError("too_large");
      chunks.push(read.value);
    }
    signal.throwIfAborted();
    return Buffer.concat(chunks).toString("utf8");
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

function parse<T>(text: string, shape: z.ZodType<T>): T {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new CallError("not_json");
  }
  const parsed = shape.safeParse(json);
  if (!parsed.success) throw new CallError("unexpected");
  return parsed.data;
}

/**
 * One call to another service, its JSON answer within five seconds and one mebibyte: no retry, no redirect followed.
 *
 * @returns the body as `shape` parsed it
 * @throws CallError
 */
export async function callJson<T>(url: string, { method, headers, body, json }: Call, shape: z.ZodType<T>): Promise<T> {
  const signal = AbortSignal.timeout(deadline);
  let text: string;
  try {
    const response = await ky(url, {
      method,
      headers: { accept: "application/json", ...headers },
      ...(body !== undefined && { body }),
      ...(json !== undefined && { json }),
      retry: 0,
      redirect: "manual",
      timeout: false,
      throwHttpErrors: false,
      signal,
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new CallError(response.status >= 300 && response.status < 400 ? "redirect" : "status", response.status);
    }
    text = await readBounded(response, signal);
  } catch (error) {
    if (error instanceof CallError) throw error;
    throw new CallError(signal.aborted ? "timeout" : "unreachable");
  }
  return parse(text, shape);
}
