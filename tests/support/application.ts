import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";
import { listen } from "./listen";

interface ReceivedWebhook {
  id: string;
  type: string;
  timestamp: string;
  data: { id: string; email: string };
}

/** An application that verifies each webhook, and answers as `statusOf` says. */
export async function startApplication(statusOf: (webhook: ReceivedWebhook) => number = () => 204) {
  const secret = `whsec_${Buffer.alloc(32, "latchkey").toString("base64")}`;
  const received: ReceivedWebhook[] = [];
  const arrivals = new EventEmitter();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const verified = new Webhook(secret).verify(body, request.headers as Record<string, string>);
    const webhook = { id: String(request.headers["webhook-id"]), ...(verified as Omit<ReceivedWebhook, "id">) };
    received.push(webhook);
    response.writeHead(statusOf(webhook)).end();
    arrivals.emit("webhook");
  });
  const { port, stop } = await listen(server);
  return {
    settings: { WEBHOOK_URL: `http://127.0.0.1:${port}/webhooks`, WEBHOOK_SECRET: secret },
    received,
    async when(condition: () => boolean) {
      while (!condition()) await once(arrivals, "webhook");
    },
    stop,
  };
}
