import { config } from "../../config";
import { previewedMails } from "../../mail/log-mailer";
import type { Mail } from "../../mail/mail";
import { isLoopback } from "../../settings/formats";

const hasLogDriver = () => config().mail.driver === "log";

/** Whether pages say that no mail leaves the server: only developers see this, not the visitors of a service. */
export const isMailLogged = (): boolean => hasLogDriver() && isLoopback(new URL(config().appUrl).hostname);

/** The mails of the `log` driver in development, the last first; `null` with another driver. */
export const mailPreview = (): readonly Mail[] | null => (hasLogDriver() ? previewedMails() : null);
