import { redirect } from "@remix-run/node";
import { requestEmailChange } from "#server/features/email-change.server";
import { changePassword, verifyCurrentPassword } from "#server/features/password-change.server";
import { passwordProblem } from "#server/features/password-policy.server";
import { clientOf, requesterOf } from "#server/http/request-facts.server";
import { linkLifetimeMinutes } from "#server/rules";
import { type ActionContext, done, refused, throttled } from "./account-action.server";
import { deviceToken } from "./device.server";
import { passwordMessages } from "./password-messages";
import { getUser, requireRecentSignIn } from "./session.server";

const wrongPassword = "This is not your current password.";
const changedMeanwhile = "The password was changed in the meantime, by another request. This one changed nothing.";

export async function changeOwnPassword({ request, signedIn, form }: ActionContext) {
  await requireRecentSignIn(request, signedIn);
  const { user, sessionId } = signedIn;
  if (!user.hasPassword) {
    return refused(form, { passwordLink: "This account has no password yet. Choose “Set a password by mail” below." });
  }
  const { currentPassword, password, passwordConfirmation } = form;
  if (currentPassword === "") return refused(form, { currentPassword: "Type your current password." });
  const origin = { client: clientOf(request), deviceToken: deviceToken(request) };
  const { wait, verified } = await verifyCurrentPassword(user, currentPassword, origin, requesterOf(request));
  if (wait !== null) return throttled(form, "currentPassword", "Too many wrong passwords.", wait);

  const problem = await passwordProblem({ email: user.email, password, passwordConfirmation });
  const errors = { ...(!verified && { currentPassword: wrongPassword }), ...(problem && passwordMessages[problem]) };
  if (!verified || problem) return refused(form, errors);

  const owner = { userId: user.id, sessionId };
  const changed = await changePassword(owner, verified, password, origin.deviceToken, requesterOf(request));
  if (changed) return done("Your password was changed, and every other session was ended.");
  // A change in another browser ended this session. The login page says that the password was changed.
  if (!(await getUser(request))) return redirect("/login?notice=password_reset");
  return refused(form, { currentPassword: changedMeanwhile });
}

const emailRefusals = {
  no_address: "Enter an email address.",
  own_address: "This is the address of your account already.",
};

export async function changeOwnEmail({ request, signedIn, form }: ActionContext) {
  await requireRecentSignIn(request, signedIn);
  const outcome = await requestEmailChange(signedIn, form.email, clientOf(request));
  if (outcome !== "requested") return refused(form, { email: emailRefusals[outcome] });
  return done(
    `If mail reaches ${form.email.trim()}, a link to confirm the address is on its way. Your address changes when you open it and confirm, within ${linkLifetimeMinutes} minutes.`,
  );
}
