import { createServer } from "node:http";
import { afterAll, beforeAll } from "vitest";
import { config } from "#server/config";
import { answerVerification, type Finders, verifyPath } from "#server/door/forward-authentication";
import { parseTarget } from "#server/door/request-target";
import { listen } from "./listen";

/** `/auth/verify` over HTTP, in this process, with the configuration of the moment. Returns its port. */
export function serveVerification(finders: Finders): () => number {
  let server: Awaited<ReturnType<typeof listen>>;

  beforeAll(async () => {
    const verify = createServer((request, response) => {
      const target = parseTarget(request.url ?? "");
      if (target?.path !== verifyPath) return void response.writeHead(404).end();
      void answerVerification(response, { request, target, config: config(), finders });
    });
    server = await listen(verify);
  });

  afterAll(() => server.stop());

  return () => server.port;
}
