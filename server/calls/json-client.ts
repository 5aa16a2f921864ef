import ky from "ky";
import type * as z from "zod";
import { CallError } from "../errors";
import type { SignInStep } from "../events/sign-in-failures";

const longestCall = 5_000; // ms, from the start of the call to the end of the answer's body
const largestAnswer = 1_048_576; // bytes, decoded

interface Call {
  step?: SignInStep;
  /** In ms; the default is five seconds. */
  deadline?: number;
  method: "GET" | "POST";
  headers?: Record<string, string>;
  body?: string;
  json?: unknown;
  /** The error code in the body of an answer with a status of 400 to 499. It is logged, so the shape must be strict. */
  errorCode?: z.ZodType<string | number>;
}

/**
 * Calls another service once, as `callText`, and parses its JSON.
 * @throws CallError, with the call's `step`, also for an answer of another shape
 */
export async function callJson<T>(url: string, call: Call, shape: z.ZodType<T>): Promise<T> {
  try {
    return parse(await callText(url, call), shape);
  } catch (error) {
    if (error instanceof CallError) error.step = call.step;
    throw error;
  }
}

/** Calls another service once: no retry, no redirect followed, bounded in time and size. @throws CallError */
export async function callText(url: string, call: Call): Promise<string> {
  const { method, headers, body, json, deadline = longestCall } = call;
  const signal = AbortSignal.timeout(deadline);
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
      const code = await readErrorCode(response, call, signal);
      const kind = response.status >= 300 && response.status < 400 ? "redirect" : "status";
      throw new CallError(`${kind} ${response.status}`, code, response.status);
    }
    return await readBounded(response, signal);
  } catch (error) {
    if (error instanceof CallError) throw error;
    throw signal.aborted ? new CallError("timeout") : new CallError("unreachable", causeCode(error));
  }
}

async function readErrorCode(response: Response, { errorCode }: Call, signal: AbortSignal) {
  if (!errorCode || response.status < 400 || response.status > 499) return void (await response.body?.cancel());
  try {
    return parse(await readBounded(response, signal), errorCode);
  } catch {
    return undefined;
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

/** undici drops the signal of a request that was garbage-collected while its body stalls; a listener prevents that. */
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

function causeCode(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === "string" && /^[A-Z0-9_]+$/.test(code)) return code;
  }
  return undefined;
}
