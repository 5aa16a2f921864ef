import { keep } from "../outbox.server";
import type { Mailer } from "./mailer";

/** Writes each mail to standard output, for development: the one place where a raw token is printed. */
export function logMailer(from: string): Mailer {
  return async (mail) => {
    const lines = [
      "--- mail ---",
      `To: ${mail.to}`,
      `From: ${from}`,
      `Subject: ${mail.subject}`,
      "",
      mail.text.trimEnd(),
      "--- end mail ---",
    ];
    process.stdout.write(`${lines.join("\n")}\n`);
    if (process.env.NODE_ENV === "development") keep(mail);
  };
}
