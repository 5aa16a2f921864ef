import { ConstraintViolationException, type EntityManager, LockMode } from "@mikro-orm/postgresql";
import { query, read, unitOfWork } from "./database.server";
import { User } from "./entities";
import { CallError } from "./http";
import { type AuthorizationCode, IdentityProvider } from "./identity-provider/client";
import type { Profile } from "./identity-provider/providers";
import { logEvent } from "./log";
import { logUnexpected } from "./log.server";
import { mail } from "./mail/mail";
import { providerLinkedMail } from "./mail/messages";
import { service } from "./service";
import { type Browser, logReplaced, type NewSession, startSession } from "./sessions";

type Refusal =
  | "off"
  | "repeated_parameter"
  | "state"
  | "issuer"
  | "verifier"
  | "denied"
  | "no_code"
  | "no_verified_email"
  | "linked_to_another_id"
  | "unexpected";

/** External sign-in did not succeed; `reason` is safe to log. */
export class ExternalSignInError extends Error {
  override name = "ExternalSignInError";
  readonly reason: string;

  constructor(reason: Refusal | `${"discovery" | "exchange" | "profile"}: ${string}`) {
    super(reason);
    this.reason = reason;
  }
}

async function calling<T>(step: "discovery" | "exchange" | "profile", call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof CallError) throw new ExternalSignInError(`${step}: ${error.message}`);
    throw error;
  }
}

function identityProvider(): IdentityProvider {
  const config = service().config.identityProvider;
  if (!config) throw new ExternalSignInError("off");
  return new IdentityProvider(config);
}

/** The configured provider's name for people; `null` when external sign-in is off. */
export function providerLabel(): string | null {
  return service().config.identityProvider && identityProvider().label;
}

/** Whether the provider is asked with PKCE. */
export function usesPkce(): boolean {
  return service().config.identityProvider?.pkce ?? false;
}

/**
 * Where the browser is sent to consent.
 *
 * @throws ExternalSignInError when discovery fails
 */
export async function startExternalSignIn(
  redirectUri: string,
  state: string,
  codeVerifier: string | null,
): Promise<string> {
  const url = await calling("discovery", identityProvider().authorizationUrl(redirectUri, state, codeVerifier));
  logEvent("idp.started");
  return url;
}

/**
 * Refuses the response of another provider than the one that was asked (mix-up, RFC 9700, section 4.4).
 *
 * @throws ExternalSignInError
 */
export async function verifyIssuer(iss: string | null): Promise<void> {
  if (!(await calling("discovery", identityProvider().isIssuer(iss)))) throw new ExternalSignInError("issuer");
}

/**
 * The profile behind an authorization code.
 *
 * @throws ExternalSignInError
 */
export async function fetchProfile(authorization: AuthorizationCode): Promise<Profile> {
  const provider = identityProvider();
  const accessToken = await calling("exchange", provider.exchangeCode(authorization));
  return calling("profile", provider.fetchProfile(accessToken));
}

interface Found {
  user: User;
  how: "returning" | "linked" | "created";
}

async function findOrCreate(em: EntityManager, profile: Profile): Promise<Found> {
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  const returning = await em.findOne(User, { idpId: profile.id }, { lockMode });
  if (returning) return { user: returning, how: "returning" };
  if (!profile.email || !profile.emailVerified) throw new ExternalSignInError("no_verified_email");
  const { id: idpId, email, name, pictureUrl } = profile;
  const existing = await em.findOne(User, { email }, { lockMode });
  if (existing?.idpId === idpId) return { user: existing, how: "returning" }; // linked while this waited for the row
  if (existing?.idpId) throw new ExternalSignInError("linked_to_another_id");
  if (existing) {
    existing.idpId = idpId;
    existing.name ??= name;
    existing.pictureUrl ??= pictureUrl;
    await service().queue.enqueue(em, { task: "mail_provider_linked", email });
    return { user: existing, how: "linked" };
  }
  const user = em.create(User, {
    id: crypto.randomUUID(),
    email,
    idpId,
    name,
    pictureUrl,
    passwordHash: null,
    createdAt: new Date(),
  });
  await em.persist(user).flush();
  return { user, how: "created" };
}

interface Entered {
  session: NewSession;
  userId: string;
  how: Found["how"];
}

/**
 * A returning user in a browser without a session: one read and one write. Nothing would have to be undone, and the
 * foreign key refuses a session of an account that was deleted in between.
 */
async function enterAgain(profile: Profile, browser: Browser): Promise<Entered | null> {
  const [user] = await read<{ id: string }>("returning-user", "select id from users where idp_id = $1", [profile.id]);
  if (!user) return null;
  const session = await query((em) => startSession(em, user.id, browser));
  return { session, userId: user.id, how: "returning" };
}

function enter(profile: Profile, browser: Browser): Promise<Entered> {
  return unitOfWork(async (em) => {
    const { user, how } = await findOrCreate(em, profile);
    return { session: await startSession(em, user.id, browser), userId: user.id, how };
  });
}

/**
 * Signs the profile's owner in: found by the provider's id, else by a verified address and linked, else created; with
 * the session, in one transaction.
 *
 * @throws ExternalSignInError
 */
export async function signInWithProfile(profile: Profile, browser: Browser): Promise<NewSession> {
  const first = async () =>
    (browser.sessionToken ? null : await enterAgain(profile, browser)) ?? enter(profile, browser);
  const { session, userId, how } = await first().catch((error: unknown) => {
    if (error instanceof ConstraintViolationException) return enter(profile, browser); // lost a race for the user's row
    throw error;
  });
  if (how === "linked") logEvent("idp.linked", { userId });
  logReplaced(session);
  logEvent("idp.succeeded", { userId });
  return session;
}

/** The job after a link: tells the owner, who may not have been the one. */
export async function mailProviderLinked(email: string): Promise<void> {
  await mail(email, providerLinkedMail(service().config.appUrl, providerLabel() ?? "another service"));
}

function reasonOf(error: unknown): string {
  if (error instanceof ExternalSignInError) return error.reason;
  if (error instanceof Response) return "database";
  logUnexpected(error);
  return "unexpected";
}

/** Logs why an external sign-in failed. */
export function refuseExternalSignIn(error: unknown): void {
  logEvent("idp.failed", { reason: reasonOf(error) });
}
