import type { Mailer } from "./mail";
import { addToPreview } from "./preview";

/** Writes each mail to standard output, for development: no other place prints a raw token. */
export function logMailer(from: string): Mailer {
  return {
    async send(mail) {
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
      if (process.env.NODE_ENV === "development") addToPreview(mail);
    },
    async verify() {},
  };
}
