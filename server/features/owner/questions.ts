import { type Actor, lockOwner } from "../../accounts/sessions/sessions";
import { questionsFor } from "../../accounts/users/ways-in";
import { Session } from "../../database/entities";
import { afterCommit, unitOfWork } from "../../database/unit-of-work";
import { logEvent } from "../../log";

/**
 * Answers that a way to sign in, which a reset has questioned, is the owner's: a passkey, or the provider (`null`). The
 * session must have begun after the question and by a way that is not in question: a thief would answer, too.
 */
export const keepWayIn = (owner: Actor, credentialId: string | null) =>
  unitOfWork(async (em) => {
    const user = await lockOwner(em, owner);
    const session = await em.findOne(Session, { id: owner.sessionId });
    if (!user || !session) return "session_ended";
    const { passkeys, ofWay } = await questionsFor(em, user, session);
    const passkey = passkeys.find((one) => one.credentialId === credentialId);
    const questionedAt = credentialId === null ? user.idpQuestionedAt : passkey?.questionedAt;
    if (!questionedAt || ofWay || session.createdAt <= questionedAt) return "refused";
    if (passkey) passkey.questionedAt = null;
    else user.idpQuestionedAt = null;
    afterCommit(em, () => logEvent({ event: passkey ? "passkey.kept" : "idp.kept", userId: user.id }));
    return "kept";
  });
