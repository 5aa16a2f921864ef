import type { EntityManager } from "@mikro-orm/postgresql";
import { config } from "../../config";
import { Passkey, type User } from "../../database/entities";
import { afterCommit } from "../../database/unit-of-work";
import { type Change, toldOf, type Variant, type WebhookDetails, type WebhookType } from "../../events/events";
import { isLanguage, type Language } from "../../languages/languages";
import { logEvent } from "../../log";
import { enqueue, queue } from "../../queue/job-queue";
import type { QuestionedWays } from "../../queue/jobs";
import { browserName } from "../../visitor/browsers";
import { groupsOf } from "../groups/membership";
import { isUsable } from "../passkeys/relying-party";
import { isLinked } from "../provider/provider-identities";
import { type Author, record } from "./history";

/** Reports that the user's groups are no longer those of `before`. */
export async function tellGroups(em: EntityManager, user: User, before: string[], by: Author = {}): Promise<void> {
  if (groupsOf(user).join() !== before.join()) await tell(em, "user.groups_changed", user, { by });
}

interface Details {
  /** Who did it: an operator by default. */
  by?: Author & { language?: Language };
  /** The address before the change, which gets the notice, too. */
  previousEmail?: string;
  /** By which way it was made, if that tells others. */
  variant?: Variant | undefined;
  /** The name of the passkey that the change is about. */
  passkey?: string;
  /** The access token that the change is about, without its name: a thief may have chosen it. */
  token?: { origin: string; expiresAt: Date };
}

/** Reports a change to everybody in its entry of `events`, in `em`'s transaction, which holds the user's row. */
export async function tell(
  em: EntityManager,
  event: Change,
  user: User,
  { by = {}, previousEmail, passkey, token, variant }: Details = {},
): Promise<void> {
  const { detail, mail: task, webhook, questions } = toldOf(event, variant);
  noteLanguage(user, by);
  if (event !== "account.deleted") await record(em, [user.id], by, { type: event, detail });
  if (task) {
    const language = noticeLanguage(user);
    const notice = {
      task,
      language,
      ...(passkey !== undefined && {
        passkey,
        browser: browserName(by.userAgent ?? null, language),
        at: new Date().toISOString(),
      }),
      ...(token && { origin: token.origin, expiresAt: token.expiresAt.toISOString() }),
      ...(previousEmail !== undefined && { oldEmail: previousEmail, newEmail: user.email }),
      ...(questions && { questioned: await questionedWays(em, user) }),
    };
    for (const email of new Set([previousEmail ?? user.email, user.email])) await enqueue(em, { ...notice, email });
  }
  if (webhook) await announce(em, webhook, user, () => (previousEmail === undefined ? {} : { previousEmail }));
  afterCommit(em, () => logEvent({ event, userId: user.id }));
}

/** An owner's notices have the language of the page from now on. An operator has none. */
export function noteLanguage(user: User, { language }: { language?: Language }): void {
  if (language) user.language = language;
}

/** The language of the user's notices: the one in which the owner acted last. */
export const noticeLanguage = ({ language }: User): Language =>
  language && isLanguage(language) ? language : config().defaultLanguage;

/** The ways to sign in about which the account page asks. */
async function questionedWays(em: EntityManager, user: User): Promise<QuestionedWays> {
  const where = { user: user.id, questionedAt: { $ne: null } };
  const hasPasskeys = config().relyingPartyId !== null; // the statement takes 2 % of a reset's CPU
  const passkeys = hasPasskeys ? await em.find(Passkey, where, { fields: ["name", "rpId"] }) : [];
  const provider = isLinked(user) && user.idpQuestionedAt != null;
  return { passkeys: passkeys.filter(isUsable).map(({ name }) => name), provider };
}

type Announced = Pick<User, "id" | "email"> & Partial<User>;

/** Enqueues a webhook for each user, in `em`'s transaction, which holds the users' rows. */
export async function announce(
  em: EntityManager,
  type: WebhookType,
  users: Announced | Announced[],
  detailsOf: (user: Announced) => WebhookDetails = () => ({}),
): Promise<void> {
  if (!config().webhook) return;
  const jobs = [users].flat().map((user) => {
    const { id, email, name = null, pictureUrl } = user;
    const data = { id, email, name, pictureUrl: shownPicture(pictureUrl), groups: groupsOf(user), ...detailsOf(user) };
    return { task: "webhook" as const, type, data };
  });
  await queue().enqueueWebhooks(em, jobs);
}

/** The URL if it is https: the provider chose it, and pages and applications show it. */
export const shownPicture = (url: string | null | undefined): string | null =>
  url?.startsWith("https://") ? url : null;
