import type { Mail } from "./mail/mailer";

const most = 50;

// The bundle may be evaluated twice in one process; a module's own variable would then exist twice.
const holder = globalThis as { latchkeyOutbox?: Mail[] };

/** Keeps a mail for the page that shows mails in development; only memory ever holds it. */
export function keep(mail: Mail): void {
  holder.latchkeyOutbox = [mail, ...keptMails()].slice(0, most);
}

/** The mails of this process, the last first. */
export const keptMails = (): readonly Mail[] => holder.latchkeyOutbox ?? [];
