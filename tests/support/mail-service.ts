import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface ReceivedMail {
  to: string;
  subject: string;
  text: string;
  /** The token of its link. */
  token: string;
  /** `performance.now()` at its arrival. */
  at: number;
}

/** A received mail that is not answered. */
interface HeldMail extends ReceivedMail {
  answer(behaviour: MailServiceBehaviour): void;
}

export type MailServiceBehaviour =
  | { kind: "accept" }
  | { kind: "answer"; status: number; body: string }
  | { kind: "disconnect" }
  /** Receives the mail and sends no answer until the behaviour changes. */
  | { kind: "no_answer" }
  /** Hands the mail to a function, which answers it. */
  | { kind: "hand_over"; to: (mail: HeldMail) => void }
  /** Later attempts for the same address are accepted. */
  | { kind: "first_attempt"; behaviour: MailServiceBehaviour };

/** A fake of the part of Postmark's API that Latchkey uses, on loopback, with selectable faults. */
export interface MailService {
  /** The settings that make Latchkey use it. */
  settings: Record<string, string>;
  /** The accepted mails, oldest first. */
  mails: ReceivedMail[];
  /** The number of received mails, accepted or not. */
  attempts(): number;
  setBehaviour(behaviour: MailServiceBehaviour): void;
  /** Resolves when the condition holds. It is checked at every received and every accepted mail. */
  when(condition: () => boolean): Promise<void>;
  /** Resolves with the first accepted mail to the address. */
  to(email: string): Promise<ReceivedMail>;
  /** Resolves with the first received mail to the address, accepted or not. */
  attempted(email: string): Promise<ReceivedMail>;
  /** The number of mails without an answer. */
  unanswered(): number;
  /** Resolves with the first unanswered mail to the address, which the test then answers. */
  held(email: string): Promise<HeldMail>;
  stop(): Promise<void>;
}

interface Waiting {
  mail: ReceivedMail;
  response: ServerResponse;
}

const accepted = JSON.stringify({ ErrorCode: 0, Message: "OK" });

export async function startMailService(initial: MailServiceBehaviour = { kind: "accept" }): Promise<MailService> {
  const mails: ReceivedMail[] = [];
  const waiting: Waiting[] = [];
  const listeners = new Set<() => void>();
  const firstAttempts = new Map<string, ReceivedMail>();
  let behaviour = initial;
  let attempts = 0;
  let handedOver = 0;

  const notify = () => {
    for (const listener of listeners) listener();
  };

  const answer = ({ mail, response }: Waiting, how: MailServiceBehaviour): void => {
    if (how.kind === "no_answer") return void waiting.push({ mail, response });
    if (how.kind === "disconnect") return void response.destroy();
    if (how.kind === "first_attempt") {
      const isFirst = firstAttempts.get(mail.to) === mail;
      return void answer({ mail, response }, isFirst ? how.behaviour : { kind: "accept" });
    }
    if (how.kind === "hand_over") {
      handedOver++;
      const answerHandedOver = (next: MailServiceBehaviour) => {
        handedOver--;
        answer({ mail, response }, next);
        notify();
      };
      how.to({ ...mail, answer: answerHandedOver });
      return;
    }
    const { status, body } = how.kind === "accept" ? { status: 200, body: accepted } : how;
    if (response.destroyed) return;
    if (how.kind === "accept") mails.push(mail);
    response.writeHead(status, { "Content-Type": "application/json" }).end(body);
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      attempts++;
      const { To, Subject, TextBody } = JSON.parse(Buffer.concat(chunks).toString());
      const token = /token=([0-9a-f]{64})/.exec(TextBody)?.[1] ?? "";
      const mail = { to: To, subject: Subject, text: TextBody, token, at: performance.now() };
      if (!firstAttempts.has(To)) firstAttempts.set(To, mail);
      answer({ mail, response }, behaviour);
      notify();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  const when = (condition: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!condition()) return;
        listeners.delete(check);
        resolve();
      };
      listeners.add(check);
      check();
    });

  return {
    settings: {
      APP_URL: "https://latchkey.example",
      MAIL_DRIVER: "postmark",
      MAIL_FROM: "Latchkey <latchkey@example.com>",
      MAIL_API_URL: `http://127.0.0.1:${port}`,
      POSTMARK_SERVER_TOKEN: "a-secret-value",
    },
    mails,
    attempts: () => attempts,
    setBehaviour(next) {
      behaviour = next;
      for (const one of waiting.splice(0)) answer(one, behaviour);
      notify();
    },
    when,
    async to(email) {
      const find = () => mails.find(({ to }) => to === email);
      await when(() => find() !== undefined);
      return find()!;
    },
    async attempted(email) {
      await when(() => firstAttempts.has(email));
      return firstAttempts.get(email)!;
    },
    unanswered: () => handedOver + waiting.length,
    async held(email) {
      const find = () => waiting.find(({ mail }) => mail.to === email);
      await when(() => find() !== undefined);
      const held = find()!;
      waiting.splice(waiting.indexOf(held), 1);
      return { ...held.mail, answer: (how) => answer(held, how) };
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
