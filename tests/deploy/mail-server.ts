import { startSmtpServer } from "../support/smtp-service";
import { until } from "../support/until";

/** An SMTP server that needs no login. */
export async function startMailServer() {
  const { port, mails } = await startSmtpServer({ authOptional: true });
  return {
    url: `smtp://127.0.0.1:${port}`,
    /** Resolves with the token of the link in the first mail of this subject; `""` when it has none. */
    async token(subject: string): Promise<string> {
      const find = () => mails.find(({ headers }) => headers.subject === subject);
      await until(() => find() !== undefined, `the mail "${subject}"`);
      return /token=([0-9a-f]{64})/.exec(find()?.text ?? "")?.[1] ?? "";
    },
  };
}

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;
