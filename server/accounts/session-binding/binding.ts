import { type EntityManager, type FilterQuery, LockMode } from "@mikro-orm/postgresql";
import { mintToken, sha256 } from "../../crypto/tokens";
import { type Issued, Session, SessionBinding } from "../../database/entities";
import { afterCommit, unitOfWork } from "../../database/unit-of-work";
import { logEvent } from "../../log";
import { boundCookieLifetime } from "../../rules";
import { live } from "../sessions/sessions";
import { challengeOf, verifyProof } from "./proof";

// Device Bound Session Credentials (W3C draft, https://w3c.github.io/webappsec-dbsc/): the browser proves with a key of
// its device that the session is still there, and gets a cookie that lives for ten minutes.

const grace = 30_000; // ms in which requests under way, which have no bound cookie, still count
const refusedLifetime = 300_000; // ms of the challenge of a refresh that needs one
const nextLifetime = 900_000; // ms of the challenge for the next refresh
const maxIssued = 8; // challenges, and cookies, that count at a time

/**
 * Registers the key of an offer's proof, once. @returns the binding's id and the challenge of the next proof; `null`,
 * and nothing changed, if the proof is not valid
 */
export async function registerBinding(proof: string) {
  const id = await challengeOf(proof);
  return unitOfWork(async (em) => {
    const offer = id !== null && (await lockBinding(em, { id, publicKey: null, offeredUntil: { $gt: new Date() } }));
    const publicKey = offer && (await verifyProof(proof));
    if (!offer || !publicKey) return null;
    const next = issue([], nextLifetime);
    Object.assign(offer.binding, { publicKey, challenges: next.list });
    return { id: offer.binding.id, challenge: next.value };
  });
}

interface Refresh {
  id: string;
  /** `null`: the browser asks for a challenge. */
  proof: string | null;
  /** Of the request's session cookie, which the browser may not have sent. */
  sessionToken: string | null;
}

/**
 * Takes a proof that a session is on its device. This does not prolong the session. @returns the binding's id, the
 * challenge of the next proof and, if this proof is valid, the next bound cookie; `null`, and nothing changed, if the
 * session has ended or the browser has another one
 */
export async function refreshBinding({ id, proof, sessionToken }: Refresh) {
  const challenge = proof && (await challengeOf(proof));
  return unitOfWork(async (em) => {
    const { binding, session } = (await lockBinding(em, { id, publicKey: { $ne: null } })) ?? {};
    if (!binding?.publicKey || !session) return null;
    const another = { tokenHash: sha256(sessionToken ?? ""), id: { $ne: session.id }, ...live() };
    if (sessionToken !== null && (await em.count(Session, another)) > 0) return null;
    const now = Date.now();
    const isKnown = binding.challenges.some(({ hash, until }) => hash === challenge && until > now);
    const isProven = isKnown && proof && (await verifyProof(proof, binding.publicKey)) !== null;
    const left = binding.challenges.filter(({ hash }) => !isProven || hash !== challenge);
    const next = issue(left, isProven ? nextLifetime : refusedLifetime);
    binding.challenges = next.list;
    if (!isProven) return { id, challenge: next.value };
    const cookie = issue(binding.cookies, boundCookieLifetime);
    binding.cookies = cookie.list;
    if (!binding.boundFrom) {
      binding.boundFrom = new Date(now + grace);
      afterCommit(em, () => logEvent({ event: "session.bound", userId: session.user.id }));
    }
    return { id, challenge: next.value, cookie: cookie.value };
  });
}

/** Locks a binding of a live session. */
async function lockBinding(em: EntityManager, where: FilterQuery<SessionBinding>) {
  const binding = await em.findOne(SessionBinding, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
  const session = binding && (await em.findOne(Session, { id: binding.session.id, ...live() }));
  return session && { binding, session };
}

function issue(list: Issued[], lifetime: number): { value: string; list: Issued[] } {
  const value = mintToken();
  const now = Date.now();
  const valid = list.filter(({ until }) => until > now);
  return { value, list: [...valid, { hash: sha256(value), until: now + lifetime }].slice(-maxIssued) };
}
