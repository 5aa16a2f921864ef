import { query } from "../database/unit-of-work";
import { type GivenUpJob, givenUpMails, retryGivenUpMails } from "../queue/given-up-jobs";
import type { Job } from "../queue/jobs";

/** A mail that was given up. */
export interface FailedMail {
  id: string;
  task: Job["task"];
  /** To whom. */
  email: string;
  at: Date;
  /** Names, reasons and codes; no text of the mail service. */
  error: string;
}

function describeError(error: GivenUpJob["error"]): string {
  const words = [error?.error, error?.reason, error?.code].filter((word) => word != null);
  return words.join(" ") || "the process ended while the mail was being sent";
}

/** The mails that were given up in the last 14 days, the last first. */
export async function failedMails(): Promise<FailedMail[]> {
  const jobs = await query(givenUpMails);
  return jobs.map(({ id, data, at, error }) => ({
    id,
    task: data.task,
    email: "email" in data ? data.email : "",
    at: new Date(at),
    error: describeError(error),
  }));
}

/**
 * Lets the service send given-up mails again, with every retry.
 *
 * @param id of one mail; `null` for all
 * @returns how many
 */
export function retryFailedMails(id: string | null): Promise<number> {
  return query((em) => retryGivenUpMails(em, id));
}
