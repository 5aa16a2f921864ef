import { type EntityManager, LockMode, UniqueConstraintViolationException } from "@mikro-orm/postgresql";
import { prepared, unitOfWork } from "./database.server";
import { User } from "./entities";
import { CallError } from "./http";
import { type AuthorizationCode, IdentityProvider } from "./identity-provider/client";
import type { Profile } from "./identity-provider/providers";
import { logEvent } from "./log";
import { logUnexpected } from "./log.server";
import { mail } from "./mail/mail";
import { providerLinkedMail } from "./mail/messages";
import { service } from "./service";
import { type Browser, logReplaced, type NewSession, newSession, startSession } from "./sessions";

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

const enterAgainStatement = `
  insert into sessions (id, token_hash, user_id, user_agent, created_at, last_seen_at, expires_at)
  select $1, $2, id, $3, $4, $4, $5 from users where idp_id = $6 for share
  returning user_id as id`;

interface Entered {
  session: NewSession;
  userId: string;
  how: Found["how"];
}

/**
 * A returning user, in a browser without a session: found and signed in by one statement, which waits for whoever is
 * just disconnecting or deleting the account, and then finds nobody.
 */
async function enterAgain({ id: idpId }: Profile, { userAgent }: Browser): Promise<Entered | null> {
  const { row, token } = newSession(userAgent);
  const [user] = await prepared<{ id: string }>("enter-again", enterAgainStatement, [
    row.id,
    row.tokenHash,
    row.userAgent,
    row.createdAt,
    row.expiresAt,
    idpId,
  ]);
  if (!user) return null;
  return { session: { token, expiresAt: row.expiresAt, replacedUserId: null }, userId: user.id, how: "returning" };
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
    if (error instanceof UniqueConstraintViolationException) return enter(profile, browser); // the user exists by now
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
