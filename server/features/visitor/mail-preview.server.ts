import { config } from "../../config";
import { previewedMails } from "../../mail/log-mailer";
import type { Mail } from "../../mail/mail";

export const isMailLogged = (): boolean => config().mail.driver === "log";

/** The mails of the `log` driver in development, the last first; `null` with another driver. */
export const mailPreview = (): readonly Mail[] | null => (isMailLogged() ? previewedMails() : null);
