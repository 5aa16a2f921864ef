import { redirect } from "@remix-run/node";
import { requestEmailChange } from "#server/features/email-change.server";
import { changePassword, verifyCurrentPassword } from "#server/features/password-change.server";
import { passwordProblem } from "#server/features/password-policy.server";
import { clientOf, requesterOf } from "#server/http/request-facts.server";
import { linkLifetimeMinutes } from "#server/rules";
import { deviceToken } from "~/request/device.server";
import { languageOf } from "~/request/language.server";
import { passwordMessage } from "~/request/password-messages";
import { minutesIn } from "~/request/responses";
import { getUser, requireRecentSignIn } from "~/request/session.server";
import { type ActionContext, done, refused, sessionEnded, throttled } from "./answers.server";

export async function changeOwnPassword({ request, t, signedIn, form }: ActionContext) {
  await requireRecentSignIn(request, signedIn);
  const { user, sessionId } = signedIn;
  if (!user.hasPassword) return refused(form, { passwordLink: t("account.noPassword") });
  const { currentPassword, password, passwordConfirmation } = form;
  if (currentPassword === "") return refused(form, { currentPassword: t("account.typeCurrentPassword") });

  const requester = requesterOf(request);
  const device = deviceToken(request);
  const { wait, verified } = await verifyCurrentPassword(user, currentPassword, device, requester);
  if (wait !== null) {
    return throttled(form, { currentPassword: t("account.tooManyWrong", { count: minutesIn(wait) }) }, wait);
  }

  const problem = await passwordProblem({ email: user.email, password, passwordConfirmation });
  if (!verified || problem) {
    const wrong = !verified && { currentPassword: t("account.wrongPassword") };
    return refused(form, { ...wrong, ...(problem && passwordMessage(t, problem)) });
  }

  const owner = { userId: user.id, sessionId };
  const outcome = await changePassword(owner, verified, password, device, languageOf(request), requester);
  if (outcome === "changed") return done(t("account.passwordChanged"));
  if (outcome === "session_ended") return sessionEnded();
  // A change in another browser may have ended this session. The login page says that the password was changed.
  if (!(await getUser(request))) return redirect("/login?notice=password_reset");
  return refused(form, { currentPassword: t("account.changedMeanwhile") });
}

const emailRefusals = { no_address: "account.enterEmail", own_address: "account.ownEmail" } as const;

export async function changeOwnEmail({ request, t, signedIn, form }: ActionContext) {
  await requireRecentSignIn(request, signedIn);
  const outcome = await requestEmailChange(signedIn, form.email, clientOf(request), languageOf(request));
  if (outcome === "session_ended") return sessionEnded();
  if (outcome !== "requested") return refused(form, { email: t(emailRefusals[outcome]) });
  return done(t("account.emailChangeSent", { email: form.email.trim(), count: linkLifetimeMinutes }));
}
