import { type IncomingMessage, Server, type ServerResponse } from "node:http";
import type { Registry, RegistryContentType } from "prom-client";
import type { MetricsConfig } from "../config";
import { logUnexpected } from "../log";
import { listen } from "./ports";

type Exposition = Pick<Registry<RegistryContentType>, "contentType" | "metrics">;

export function openMetricsServer({ host, port }: MetricsConfig, exposition: Exposition): Promise<void> {
  const server = new MetricsServer((request, response) => void answer(exposition, request, response));
  return listen(server, port, host, `METRICS_PORT ${port} on ${host}`);
}

/** The front door leaves the requests of this server alone. */
export class MetricsServer extends Server {}

async function answer(exposition: Exposition, request: IncomingMessage, response: ServerResponse) {
  if (request.method !== "GET" || request.url?.split("?", 1)[0] !== "/metrics") {
    response.writeHead(404).end();
    return;
  }
  try {
    const body = await exposition.metrics();
    response.writeHead(200, { "Content-Type": exposition.contentType, "Cache-Control": "no-store" }).end(body);
  } catch (error) {
    logUnexpected(error);
    response.writeHead(500).end();
  }
}
