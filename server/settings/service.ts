import { availableParallelism } from "node:os";
import { type Language, languages } from "../languages/languages";
import { databaseUrl } from "./database-url";
import { form, host, oneOf, parseOrigin, port } from "./forms";
import type { Setting, Values } from "./setting";

function parseProxies(text: string): number | null {
  if (text === "true" || text === "false") return Number(text === "true");
  return /^\d$/.test(text) ? Number(text) : null;
}

function parseProcesses(text: string): number | null {
  if (text === "auto") return availableParallelism();
  return /^[1-9]\d?$/.test(text) ? Number(text) : null;
}

export const addressSettings = {
  APP_URL: {
    form: form(parseOrigin, "must be an origin such as https://login.example.com: no path, query or credentials"),
    help: "The public origin, with which every mailed link starts. Without it, `http://localhost:PORT`.",
    example: "https://login.example.com",
  },
  PORT: { form: port, default: "3000", help: "The port to listen on." },
  HOST: { form: host, help: "The address to listen on. Without it, all interfaces.", example: "127.0.0.1" },
  TRUST_PROXY: {
    form: form(parseProxies, "must be true, false or the number of proxies, at most 9"),
    default: "false",
    help: "How many proxies in front set `X-Forwarded-Proto`, `-Host` and `-For`; `true` is 1.",
  },
} satisfies Record<string, Setting>;

export const databaseSettings = {
  DATABASE_URL: {
    form: databaseUrl,
    default: "pglite:./data",
    help: "PostgreSQL 15 or newer, or `pglite:FOLDER`: an embedded database in this folder.",
    example: "postgresql://latchkey:secret@localhost:5432/latchkey",
    secret: true,
  },
  PROCESSES: {
    form: form(parseProcesses, "must be auto, or a number from 1 to 99"),
    default: "1",
    help: "How many processes serve the port; `auto`: one for each core. More than 1 needs PostgreSQL.",
  },
} satisfies Record<string, Setting>;

export const languageSettings = {
  DEFAULT_LOCALE: {
    form: oneOf(...(Object.keys(languages) as Language[])),
    default: "en",
    help: "The language of visitors whose browser asks for none that there is, and of mails that no page asked for.",
  },
} satisfies Record<string, Setting>;

export const metricsSettings = {
  METRICS_PORT: { form: port, help: "The port for Prometheus. Without it, nothing is counted.", example: "9464" },
  METRICS_HOST: { form: host, default: "127.0.0.1", help: "The address for Prometheus. There is no login." },
} satisfies Record<string, Setting>;

export type MetricsConfig = NonNullable<ReturnType<typeof metricsConfig>>;

/** `null`: nothing is counted. */
export const metricsConfig = ({ METRICS_HOST: host, METRICS_PORT: port }: Values<typeof metricsSettings>) =>
  port === null ? null : { host, port };
