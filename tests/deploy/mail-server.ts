import { startSmtpServer } from "../support/smtp-service";
import { until } from "../support/until";

/** An SMTP server that needs no login. */
export async function startMailServer() {
  const { port, mails } = await startSmtpServer({ authOptional: true });
  return {
    url: `smtp://127.0.0.1:${port}`,
    /** Resolves with the token of the link in the first mail of this subject to the address; `""` when it has none. */
    async token(subject: string, email?: string): Promise<string> {
      const find = () => mails.find(({ headers, to }) => headers.subject === subject && to[0] === (email ?? to[0]));
      await until(() => find() !== undefined, `the mail "${subject}"`);
      return /token=([0-9a-f]{64})/.exec(find()?.text ?? "")?.[1] ?? "";
    },
  };
}

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;
