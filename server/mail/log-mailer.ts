import type { Mail } from "../mail-services/service";
import { processValue } from "../process/value";
import type { Mailer } from "./mail";

const maxPreviewed = 50;

/** The mails that the development server shows, the last first. They are in memory only. */
const previewed = processValue<readonly Mail[]>("mail-preview");

/** Writes each mail to standard output, for development: no other place prints a raw token. */
export function logMailer(from: string): Mailer {
  return {
    async send(mail) {
      const { to, subject, text } = mail;
      const head = `To: ${to}\nFrom: ${from}\nSubject: ${subject}`;
      process.stdout.write(`--- mail ---\n${head}\n\n${text.trimEnd()}\n--- end mail ---\n`);
      if (process.env.NODE_ENV === "development") addToPreview(mail);
    },
    async verify() {},
  };
}

export function addToPreview(mail: Mail): void {
  previewed.current = [mail, ...previewedMails()].slice(0, maxPreviewed);
}

export const previewedMails = (): readonly Mail[] => previewed.current ?? [];
