import { processValue } from "../process-value";
import type { Mail } from "./mail";

const mostMails = 50;

const mails = processValue<readonly Mail[]>("mail-preview");

/** Adds a mail to those that the development server shows. They are in memory only. */
export function addToPreview(mail: Mail): void {
  mails.current = [mail, ...previewedMails()].slice(0, mostMails);
}

/** The mails that this process has sent, the last first. */
export const previewedMails = (): readonly Mail[] => mails.current ?? [];
