import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface DeliveredMail {
  to: string;
  subject: string;
  text: string;
  /** `performance.now()` at its arrival. */
  at: number;
}

export type MailServiceBehaviour =
  | { kind: "accept" }
  | { kind: "answer"; status: number; body: string }
  | { kind: "hang_up" }
  /** Takes the mail and says nothing until the behaviour changes. */
  | { kind: "silence" };

/** Postmark as far as Latchkey knows it, on loopback, in every mood. */
export interface MailService {
  /** The settings that make Latchkey use it. */
  settings: Record<string, string>;
  /** What it accepted, the first first. */
  mails: DeliveredMail[];
  /** How many it was asked to take, accepted or not. */
  attempts(): number;
  behave(behaviour: MailServiceBehaviour): void;
  /** Resolves as soon as the condition holds; looked at on every attempt and every accepted mail. */
  when(condition: () => boolean): Promise<void>;
  /** The first mail to the address, as soon as it is accepted. */
  to(email: string): Promise<DeliveredMail>;
  stop(): Promise<void>;
}

interface Waiting {
  mail: DeliveredMail;
  response: ServerResponse;
}

const accepted = JSON.stringify({ ErrorCode: 0, Message: "OK" });

export async function startMailService(initial: MailServiceBehaviour = { kind: "accept" }): Promise<MailService> {
  const mails: DeliveredMail[] = [];
  const listeners = new Set<() => void>();
  let behaviour = initial;
  let attempts = 0;
  let held: Waiting[] = [];

  const answer = ({ mail, response }: Waiting) => {
    if (behaviour.kind === "silence") return void held.push({ mail, response });
    if (behaviour.kind === "hang_up") return void response.destroy();
    const { status, body } = behaviour.kind === "accept" ? { status: 200, body: accepted } : behaviour;
    if (response.destroyed) return;
    if (behaviour.kind === "accept") mails.push(mail);
    response.writeHead(status, { "Content-Type": "application/json" }).end(body);
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      attempts++;
      const { To, Subject, TextBody } = JSON.parse(Buffer.concat(chunks).toString());
      answer({ mail: { to: To, subject: Subject, text: TextBody, at: performance.now() }, response });
      for (const listener of listeners) listener();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  const when = (condition: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!condition()) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      look();
    });

  return {
    settings: {
      APP_URL: "http://latchkey.example",
      MAIL_DRIVER: "postmark",
      MAIL_FROM: "latchkey@example.com",
      MAIL_API_URL: `http://127.0.0.1:${port}`,
      POSTMARK_SERVER_TOKEN: "a-token",
    },
    mails,
    attempts: () => attempts,
    behave(next) {
      behaviour = next;
      const waiting = held;
      held = [];
      for (const one of waiting) answer(one);
      for (const listener of listeners) listener();
    },
    when,
    async to(email) {
      const find = () => mails.find(({ to }) => to === email);
      await when(() => find() !== undefined);
      return find()!;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
