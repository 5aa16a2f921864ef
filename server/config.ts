import * as z from "zod";
import { StartError } from "./errors";
import type { Language } from "./languages/languages";
import { processValue } from "./process-value";
import { type ApplicationConfig, applicationSettings } from "./settings/application";
import { type BrandConfig, brandForms, brandOf } from "./settings/branding";
import { databaseUrl } from "./settings/database-url";
import { isWebUrl, optional, portNumber, webUrl } from "./settings/forms";
import {
  clientSettings,
  type IdentityProviderConfig,
  identityProviderForms,
  identityProviderSettings,
} from "./settings/identity-provider";
import { languageForms } from "./settings/language";
import { type MailConfig, mailForms, mailSettings } from "./settings/mail";
import { type MetricsConfig, metricsForms, metricsSettings } from "./settings/metrics";
import { processesForm, processesSettings } from "./settings/processes";
import { type RegistrationConfig, registrationForms, registrationSettings } from "./settings/registration";
import { type ReadFile, readSecrets, readTextFile } from "./settings/secrets";

const embeddedDatabase = "pglite:./data";

/** `process.env`, or an object like it. */
export type Environment = Record<string, string | undefined>;

export interface Config extends ApplicationConfig {
  readonly production: boolean;
  /** `postgresql://…`, or `pglite:FOLDER` for the embedded database. */
  readonly databaseUrl: string;
  readonly port: number;
  /** How many processes serve the port. */
  readonly processes: number;
  /** How many reverse proxies stand in front; 0 trusts no forwarded header. */
  readonly trustedProxies: number;
  readonly mail: MailConfig;
  readonly brand: BrandConfig;
  /** `null`: nothing is counted. */
  readonly metrics: MetricsConfig | null;
  /** For a visitor who asks for no language that there is, and for mails that no page asked for. */
  readonly defaultLanguage: Language;
  readonly registration: RegistrationConfig;
  /** `null`: external sign-in is off. */
  readonly identityProvider: IdentityProviderConfig | null;
}

/** Lists every problem of the environment, one per line, and no value of a secret. */
export class ConfigurationError extends StartError {
  override name = "ConfigurationError";
  readonly problems: readonly string[];

  constructor(problems: string[]) {
    super(["The configuration is not usable:", ...problems.map((problem) => `  - ${problem}`)].join("\n"));
    this.problems = problems;
  }
}

/** `true` is one proxy. */
const trustedProxies = z
  .string()
  .regex(/^(?:true|false|\d)$/, "must be true, false or the number of proxies, at most 9")
  .default("false")
  .transform((value) => (value === "true" ? 1 : Number(value) || 0));

const appUrl = webUrl
  .refine(
    (text) => !isWebUrl(text) || new URL(text).href === `${new URL(text).origin}/`,
    "must be an origin: no path, query or credentials",
  )
  .transform((text) => new URL(text).origin);

/** The form of each setting by itself. */
const settings = z.object({
  NODE_ENV: z.string().optional(),
  APP_URL: appUrl.optional(),
  DATABASE_URL: databaseUrl.default(embeddedDatabase),
  PORT: portNumber.default(3000),
  PROCESSES: processesForm,
  TRUST_PROXY: trustedProxies,
  ...mailForms,
  ...languageForms,
  ...registrationForms,
  ...identityProviderForms,
  ...metricsForms,
  ...brandForms,
});

const off = z.unknown().transform(() => null);

const publicAddress = z
  .object({ NODE_ENV: optional, MAIL_DRIVER: z.string().default("log"), APP_URL: optional })
  .refine((env) => env.NODE_ENV !== "production" || env.MAIL_DRIVER === "log" || env.APP_URL !== null, {
    path: ["APP_URL"],
    error: "is missing: mailed links need the public address of this service",
  });

type SettingName = keyof z.infer<typeof settings>;

const malformedIn = ({ error }: z.ZodSafeParseResult<unknown>) =>
  error?.issues.map(({ path }) => String(path[0])) ?? [];

/** What the rules between settings compare: the well-formed ones as they are parsed, the others as they are. */
function valuesOf(present: Environment, malformed: ReadonlySet<string>): Record<string, unknown> {
  const wellFormed = Object.entries(present).filter(([name]) => !malformed.has(name));
  const values: Record<string, unknown> = { ...present, ...settings.safeParse(Object.fromEntries(wellFormed)).data };
  for (const name of malformed) values[name] = present[name]; // and not their defaults
  return values;
}

function problemsOf({ error }: z.ZodSafeParseResult<unknown>): string[] {
  return error?.issues.map(({ path, message }) => `${path.join(".")} ${message}`) ?? [];
}

/**
 * Reads the whole configuration from the environment, and the secrets that it says are in files. An empty variable
 * counts as unset.
 *
 * @throws ConfigurationError naming every setting that is missing or malformed, and every file that cannot be read
 */
export function loadConfig(environment: Environment, readFile: ReadFile = readTextFile): Config {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim()));
  const { secrets, problems: unread } = readSecrets(set, readFile);
  const present = { ...set, ...secrets };
  const has = (name: SettingName) => present[name] !== undefined;
  const parsed = settings.safeParse(present);
  const env = valuesOf(present, new Set([...unread.keys(), ...malformedIn(parsed)]));
  const address = publicAddress.safeParse(env);
  const mail = mailSettings.safeParse(env);
  const registration = registrationSettings.safeParse(env);
  const application = applicationSettings.safeParse(env);
  const metrics = metricsSettings.safeParse(env);
  const processes = processesSettings.safeParse(env);
  const externalSignIn = has("IDP_CLIENT_ID") || has("IDP_CLIENT_SECRET");
  const client = (externalSignIn ? clientSettings : off).safeParse(env);
  const identityProvider = (externalSignIn ? identityProviderSettings : off).safeParse(env);
  const whole =
    address.success &&
    application.success &&
    mail.success &&
    registration.success &&
    metrics.success &&
    processes.success &&
    identityProvider.success;
  if (unread.size > 0 || !parsed.success || !whole) {
    const problems = [parsed, mail, address, application, registration, metrics, processes, client, identityProvider]
      .flatMap(problemsOf)
      .filter((problem) => !unread.has(problem.split(" ", 1)[0] ?? "")); // "is missing" would mislead
    throw new ConfigurationError([...new Set([...unread.values(), ...problems])]);
  }
  const { NODE_ENV, DATABASE_URL, PORT, PROCESSES, TRUST_PROXY, DEFAULT_LOCALE } = parsed.data;
  return Object.freeze({
    production: NODE_ENV === "production",
    ...application.data,
    databaseUrl: DATABASE_URL,
    port: PORT,
    processes: PROCESSES,
    trustedProxies: TRUST_PROXY,
    mail: Object.freeze(mail.data),
    brand: Object.freeze(brandOf(parsed.data)),
    metrics: Object.freeze(metrics.data),
    defaultLanguage: DEFAULT_LOCALE,
    registration: Object.freeze(registration.data),
    identityProvider: Object.freeze(identityProvider.data),
  });
}

const provided = processValue<Config>("config");

/** Makes a configuration the one of this process. */
export function provideConfig(config: Config): void {
  provided.current = config;
}

/** The configuration of this process. */
export function config(): Config {
  if (!provided.current) throw new Error("The configuration has not been loaded.");
  return provided.current;
}
