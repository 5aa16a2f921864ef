import { setTimeout as pause } from "node:timers/promises";
import type { Answer } from "../support/http";
import type { MailService } from "../support/mail-service";
import { until } from "../support/until";
import type { Visitor } from "../support/visitor";

const interval = 50; // ms between two requests: 20 a second
const mostRequests = 6_000;

export type Flow = (visit: Visit) => Promise<void>;

/** One browser in a flow. Each answer is compared with its status and its location, without the query of another site. */
export interface Visit {
  email: string;
  get(path: string, expected: string): Promise<Answer>;
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
export class Load implements AsyncDisposable {
  readonly problems: string[] = [];
  requests = 0;
  slowest = 0;
  readonly #mails: MailService;
  readonly #visitor: (address: string) => Visitor;
  /** The flows that have not yet run from their beginning to their end since the last call of {@link everyFlow}. */
  #missing = new Set<string>();
  #names: string[] = [];
  #round = 0;
  readonly #running: Promise<void>[] = [];
  #next = performance.now();
  #visits = 0;
  #ending = false;

  constructor(mails: MailService, visitor: (address: string) => Visitor) {
    this.#mails = mails;
    this.#visitor = visitor;
  }

  start(flows: Record<string, Flow>): void {
    this.#names = Object.keys(flows);
    for (const [name, flow] of Object.entries(flows)) {
      this.#running.push(this.#repeat(name, flow), this.#repeat(name, flow));
    }
  }

  async #repeat(name: string, flow: Flow): Promise<void> {
    while (!this.#ending && this.requests < mostRequests) {
      const round = this.#round;
      const email = `${name.replaceAll(" ", "-")}-${this.#visits}@example.com`;
      await flow(this.visit(email)).catch((error: Error) => this.problems.push(`${name}: ${error.message}`));
      if (round === this.#round) this.#missing.delete(name);
    }
  }

  /** Resolves when every flow has run from its beginning to its end since the call. */
  async everyFlow(): Promise<void> {
    this.#round++;
    this.#missing = new Set(this.#names);
    await until(() => this.#missing.size === 0, "every flow ran", 120_000);
  }

  async end(): Promise<void> {
    this.#ending = true;
    await Promise.all(this.#running);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  visit(email: string): Visit {
    const n = this.#visits++;
    const visitor = this.#visitor(`127.1.${n >> 8}.${n & 255}`);
    const expectAnswer = async (request: string, expected: string[], send: () => Promise<Answer>) => {
      await this.#turn();
      const answer = await send();
      this.requests++;
      this.slowest = Math.max(this.slowest, answer.milliseconds);
      const outcome = outcomeOf(answer);
      // nginx's own 503 is plain text, and Latchkey's a page.
      if (!expected.includes(outcome)) {
        throw new Error(`${request}: ${outcome} (${answer.contentType}) in place of ${expected.join(" or ")}`);
      }
      return answer;
    };
    return {
      email,
      get: (path, expected) => expectAnswer(`GET ${path.split("?")[0]}`, [expected], () => visitor.get(path)),
      post: (path, form, ...expected) =>
        expectAnswer(`POST ${path} ${form.intent ?? ""}`, expected, () => visitor.post(path, form)),
      mail: (subject, to = email) => this.#mail(subject, to),
    };
  }

  async #turn(): Promise<void> {
    this.#next = Math.max(this.#next + interval, performance.now());
    await pause(this.#next - performance.now());
  }

  async #mail(subject: string, to: string): Promise<string> {
    const find = () => this.#mails.mails.find((mail) => mail.to === to && mail.subject.startsWith(subject));
    await until(() => find() !== undefined, `the mail "${subject}" arrives`);
    const link = /\S+[?&]token=\S+/.exec(find()?.text ?? "")?.[0];
    return link === undefined ? "" : link.slice(new URL(link).origin.length);
  }
}
