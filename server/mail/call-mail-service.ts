import type * as z from "zod";
import { MailRefused } from "../errors";
import type { MailRefusal } from "../events";
import { type Call, CallError, callJson } from "../http/json-client";

/**
 * Hands a mail over to an HTTP mail service.
 *
 * @param refusals the service's error codes that concern this mail alone; any other error is worth a retry
 * @throws MailRefused, CallError
 */
export async function callMailService(
  url: string,
  call: Omit<Call, "method">,
  answer: z.ZodType,
  refusals: Record<string, MailRefusal>,
): Promise<void> {
  try {
    await callJson(url, { method: "POST", ...call }, answer);
  } catch (error) {
    const code = error instanceof CallError && error.reason === "status 422" ? error.code : undefined;
    const refusal = Object.entries(refusals).find(([key]) => key === String(code))?.[1];
    throw refusal ? new MailRefused(refusal) : error;
  }
}
