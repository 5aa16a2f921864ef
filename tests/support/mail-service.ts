import { EventEmitter, once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { listen } from "./listen";

interface ReceivedMail {
  to: string;
  subject: string;
  text: string;
  token: string;
  /** `performance.now()` at its arrival. */
  at: number;
}

export type MailServiceBehaviour =
  | { kind: "accept" }
  | { kind: "answer"; status: number; body: string }
  | { kind: "disconnect" }
  /** Receives the mail and sends no answer until the behaviour changes. */
  | { kind: "no_answer" }
  | { kind: "late"; milliseconds: number; then: MailServiceBehaviour }
  | { kind: "first_attempt"; behaviour: MailServiceBehaviour };

export type MailService = Awaited<ReturnType<typeof startMailService>>;

interface Waiting {
  mail: ReceivedMail;
  response: ServerResponse;
}

const accepted = JSON.stringify({ ErrorCode: 0, Message: "OK" });

export async function startMailService(initial: MailServiceBehaviour = { kind: "accept" }) {
  const mails: ReceivedMail[] = [];
  const waiting: Waiting[] = [];
  const changes = new EventEmitter().setMaxListeners(0);
  const firstAttempts = new Map<string, ReceivedMail>();
  let behaviour = initial;
  let attempts = 0;
  let late = 0;

  const notify = () => changes.emit("change");

  const answer = (one: Waiting, how: MailServiceBehaviour): void => {
    const { mail, response } = one;
    if (how.kind === "no_answer") return void waiting.push(one);
    if (how.kind === "disconnect") return void response.destroy();
    if (how.kind === "first_attempt") {
      return void answer(one, firstAttempts.get(mail.to) === mail ? how.behaviour : { kind: "accept" });
    }
    if (how.kind === "late") {
      late++;
      setTimeout(() => {
        late--;
        answer(one, how.then);
        notify();
      }, how.milliseconds);
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
  const { port, stop } = await listen(server);

  const when = async (condition: () => boolean) => {
    while (!condition()) await once(changes, "change");
  };

  const found = async <T>(find: () => T | undefined): Promise<T> => {
    await when(() => find() !== undefined);
    return find()!;
  };

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
    setBehaviour(next: MailServiceBehaviour) {
      behaviour = next;
      for (const one of waiting.splice(0)) answer(one, behaviour);
      notify();
    },
    when,
    to: (email: string) => found(() => mails.find(({ to }) => to === email)),
    /** Resolves with the first received mail to the address, accepted or not. */
    attempted: (email: string) => found(() => firstAttempts.get(email)),
    unanswered: () => late + waiting.length,
    stop,
  };
}
