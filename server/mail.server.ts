import { service } from "./service";

/** Whether mails are only written to standard output: the `log` driver. */
export function mailIsPrinted(): boolean {
  return service().config.mail.driver === "log";
}
