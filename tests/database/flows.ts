import type { Answer } from "../support/http";
import { goodPassword } from "../support/passwords";
import { Visitor } from "../support/visitor";

interface Flow {
  send: () => Promise<Answer>;
  /** Status and location of its answer when it works. */
  works: string;
}

const unknown = () => `${crypto.randomUUID()}@example.com`;

/** Each flow, for a signed-in visitor and another account with {@link goodPassword}; its requests meet no limit. */
export const flowsOf = (url: string, signedIn: Visitor, email: string): Record<string, Flow> => ({
  "`/dashboard`": { send: () => signedIn.get("/dashboard"), works: "200" },
  "`/auth/verify`": { send: () => signedIn.get("/auth/verify"), works: "200" },
  "log in": { send: () => new Visitor(url).logIn(email), works: "302 /dashboard" },
  "ask for a link": { send: () => new Visitor(url).askForReset(unknown()), works: "200" },
  "reset, with an unknown link": {
    send: () => new Visitor(url).reset({ email: unknown(), token: "0".repeat(64) }),
    works: "422",
  },
  register: { send: () => new Visitor(url).post("/register", { email: unknown() }), works: "200" },
  "external sign-in": { send: () => new Visitor(url).signInExternally(), works: "302 /dashboard" },
  "`/readyz`": { send: () => new Visitor(url).get("/readyz"), works: "200" },
});

const outcomeOf = ({ status, location }: Answer) => [status, location].filter((part) => part !== null).join(" ");

/** Uses a flow again and again. */
export function watch({ send, works }: Flow) {
  const failures = new Set<string>();
  let lastFailure: number | undefined;
  let worksSince: number | undefined;
  let stopped = false;
  const done = (async () => {
    while (!stopped) {
      const sent = performance.now();
      const answer = await send();
      if (outcomeOf(answer) === works) {
        if (lastFailure !== undefined && sent > lastFailure) worksSince ??= performance.now();
      } else {
        failures.add(outcomeOf(answer));
        lastFailure = performance.now();
        worksSince = undefined;
      }
    }
  })();
  done.catch(() => {}); // `stop` rejects with it
  return {
    fails: () => failures.size > 0,
    worksAgain: () => worksSince !== undefined,
    async stop() {
      stopped = true;
      await done;
      return { failures: [...failures].sort(), worksSince: worksSince ?? Number.NaN };
    },
  };
}
