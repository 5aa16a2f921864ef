import { setTimeout as pause } from "node:timers/promises";
import type { Answer } from "../support/http";
import type { MailService } from "../support/mail-service";
import { until } from "../support/until";
import type { Visitor } from "../support/visitor";

const interval = 50; // ms between two requests: 20 a second
const maxRequests = 6_000;

export type Flow = (visit: Visit) => Promise<void>;

/** One browser in a flow. Each answer is compared with its status and its location, without the query of another site. */
export interface Visit {
  email: string;
  get(path: string, ...expected: string[]): Promise<Answer>;
  post(path: string, form: Record<string, string>, ...expected: string[]): Promise<Answer>;
  /** The path of the link in the mail; empty for a mail without one. */
  mail(subject: string, to?: string): Promise<string>;
}

function outcomeOf({ status, location }: Answer): string {
  if (location === null) return String(status);
  const isElsewhere = URL.canParse(location);
  return `${status} ${isElsewhere ? new URL(location).origin : location}`;
}

/** Every flow again and again, at 20 requests a second of all of them together. */
export function createLoad({ mails }: MailService, visitorAt: (address: string) => Visitor) {
  const problems: string[] = [];
  const running: Promise<void>[] = [];
  /** The flows that have not yet run from their beginning to their end since the last call of `everyFlow`. */
  let missing = new Set<string>();
  let names: string[] = [];
  let round = 0;
  let next = performance.now();
  let visits = 0;
  let requests = 0;
  let ending = false;

  async function expectAnswer(request: string, expected: string[], send: () => Promise<Answer>): Promise<Answer> {
    next = Math.max(next + interval, performance.now());
    await pause(next - performance.now());
    const answer = await send();
    requests++;
    const outcome = outcomeOf(answer);
    // nginx's own 503 is plain text, and Latchkey's a page.
    if (!expected.includes(outcome)) {
      throw new Error(`${request}: ${outcome} (${answer.contentType}) in place of ${expected.join(" or ")}`);
    }
    return answer;
  }

  async function mailed(subject: string, to: string): Promise<string> {
    const find = () => mails.find((mail) => mail.to === to && mail.subject.startsWith(subject));
    await until(() => find() !== undefined, `the mail "${subject}" arrives`);
    const link = /\S+[?&]token=\S+/.exec(find()?.text ?? "")?.[0];
    return link === undefined ? "" : link.slice(new URL(link).origin.length);
  }

  function visit(email: string): Visit {
    const n = visits++;
    const visitor = visitorAt(`127.1.${n >> 8}.${n & 255}`);
    return {
      email,
      get: (path, ...expected) => expectAnswer(`GET ${path.split("?")[0]}`, expected, () => visitor.get(path)),
      post: (path, form, ...expected) =>
        expectAnswer(`POST ${path} ${form.intent ?? ""}`, expected, () => visitor.post(path, form)),
      mail: (subject, to = email) => mailed(subject, to),
    };
  }

  async function repeat(name: string, flow: Flow): Promise<void> {
    while (!ending && requests < maxRequests) {
      const begun = round;
      const email = `${name.replaceAll(" ", "-")}-${visits}@example.com`;
      await flow(visit(email)).catch((error: Error) => problems.push(`${name}: ${error.message}`));
      if (begun === round) missing.delete(name);
    }
  }

  async function end(): Promise<void> {
    ending = true;
    await Promise.all(running);
  }

  return {
    problems,
    requests: () => requests,
    visit,
    start(flows: Record<string, Flow>): void {
      names = Object.keys(flows);
      for (const [name, flow] of Object.entries(flows)) running.push(repeat(name, flow), repeat(name, flow));
    },
    /** Resolves when every flow has run from its beginning to its end since the call. */
    async everyFlow(): Promise<void> {
      round++;
      missing = new Set(names);
      await until(() => missing.size === 0, "every flow ran", 120_000);
    },
    end,
    [Symbol.asyncDispose]: end,
  };
}
