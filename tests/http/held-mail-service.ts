import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface ReceivedMail {
  to: string;
  token: string;
  /** Takes the mail, as Postmark does. */
  accept(): void;
  /** Answers with a failure. */
  fail(): void;
}

export interface MailService {
  /** The settings that make Latchkey hand its mails to this service. */
  settings: Record<string, string>;
  /** Resolves with the next mail to the address that nobody has taken yet, and takes it. */
  next(to: string): Promise<ReceivedMail>;
  stop(): Promise<void>;
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

/** A mail service on loopback with Postmark's API, which answers each mail when it is told to and not before. */
export async function startMailService(): Promise<MailService> {
  const received: ReceivedMail[] = [];
  const listeners = new Set<() => void>();

  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { To: to, TextBody: text } = JSON.parse(body) as { To: string; TextBody: string };
    received.push({
      to,
      token: /token=([0-9a-f]{64})/.exec(text)?.[1] ?? "",
      accept: () => answer(response, 200, { ErrorCode: 0 }),
      fail: () => answer(response, 500, { ErrorCode: 500 }),
    });
    for (const listener of listeners) listener();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    settings: {
      MAIL_DRIVER: "postmark",
      POSTMARK_SERVER_TOKEN: "hush-hush",
      MAIL_FROM: "Latchkey <latchkey@example.com>",
      MAIL_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      APP_URL: "https://latchkey.example",
    },
    next: (to) =>
      new Promise((resolve) => {
        const look = () => {
          const index = received.findIndex((mail) => mail.to === to);
          const [mail] = index === -1 ? [] : received.splice(index, 1);
          if (!mail) return;
          listeners.delete(look);
          resolve(mail);
        };
        listeners.add(look);
        look();
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
