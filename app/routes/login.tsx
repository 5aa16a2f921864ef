import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { data, Form, Link, redirectDocument, useActionData, useLoaderData } from "@remix-run/react";
import { config } from "#server/config";
import { factsOf } from "#server/door/request-facts";
import { logIn } from "#server/features/visitor/login";
import { offersPasskeys } from "#server/features/visitor/passkey-sign-in";
import { offersRegistration } from "#server/features/visitor/registration";
import { providerLabel } from "#server/provider/label";
import { recentSignInMinutes } from "#server/rules";
import { allowSignIn, keepTyped, minutesIn, respond, tooManyRequests, unprocessable } from "~/answers/responses";
import { withReturnTo } from "~/answers/return-to";
import { CookiesBlocked } from "~/components/cookies-blocked";
import { ExternalSignIn, LastUsed } from "~/components/external-sign-in";
import { EmailField, SubmitButton } from "~/components/form-controls";
import { LeaveProvider, Notice, noticeText, Page, Unavailable } from "~/components/page";
import { PasskeySignIn } from "~/components/passkey-sign-in";
import { PasswordField } from "~/components/password-field";
import { Text, usePage, useTexts } from "~/document/page-context";
import { titled } from "~/document/title";
import { readFields } from "~/forms/form";
import { lastWay, loginAddressCookie, noticeCookie, noticeOnce, sessionTokens } from "~/visitor/cookies";
import { type LoginNoticeKey, noticeOf } from "~/visitor/notices";
import { failureShown } from "~/visitor/oauth-attempt";
import { inAppBrowserOf, maxAgeOf, returnToOf } from "~/visitor/page-query";
import { followsForm, providerLogoutLink, requireGuest, signIn } from "~/visitor/session";
import { languageOf, textsFor, visitorOf } from "~/visitor/visitor";

export { pageHeaders as headers } from "~/answers/responses";

export const handle = titled("common.logIn", { description: "login.description", listed: true });

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const failure = failureShown(request);
    const maxAge = maxAgeOf(request) ?? failure?.maxAge ?? null;
    const signedInAs = await requireGuest(request, returnToOf(request), maxAge);
    const returnTo = returnToOf(request) ?? failure?.returnTo ?? null;
    const provider = providerLabel(languageOf(request));
    const restarts = failure?.canRestart && provider !== null && signedInAs === null;
    const notice = noticeOf(request);
    const sessionEnded = notice === null && noticeOnce(request).get("notice") === "session_ended";
    const hasTwoSessions = sessionTokens(request).length > 1; // neither counts: a sign-in would lead back to this page
    const inApp = inAppBrowserOf(request);
    const isQuiet = notice === null && !sessionEnded && inApp === null;
    const mayRedirect = isQuiet && signedInAs === null && !followsForm(request) && !hasTwoSessions;
    const isRedirected = config().signInRedirect && mayRedirect;
    if (restarts || isRedirected) throw redirectDocument(withReturnTo("/auth/idp", returnTo, maxAge));
    const passkeys = offersPasskeys(factsOf(request).origin);
    const isOn = { password: config().passwords.on, provider: provider !== null, passkey: passkeys };
    const last = Object.values(isOn).filter(Boolean).length > 1 ? lastWay(request) : null;
    allowSignIn(request, returnTo);
    const page = {
      idpEnabled: provider !== null,
      provider,
      inApp,
      passkeys,
      notice,
      sessionEnded,
      problem: failure?.problem ?? null,
      returnTo,
      maxAge,
      email: signedInAs ?? loginAddressCookie.read(request),
      tooOld: signedInAs !== null && Math.floor(Number(maxAge) / 60), // minutes
      hasRegistration: offersRegistration(),
      registration: config().registration.mode,
      lastUsed: last && isOn[last] ? last : null,
      otherAccount: notice === "idp_failed" || notice === "signed_out" || lastWay(request) === "provider",
    };
    const { headers, ...link } = await providerLogoutLink(request, notice === "signed_out");
    if (sessionEnded) headers.append("Set-Cookie", noticeCookie.clear(request));
    return data({ ...page, ...link }, { headers });
  });
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { fields, sent, typed } = await readFields(request, "email", "password");
    const t = textsFor(request);
    const missing = Object.keys(fields).filter((name) => !Object.hasOwn(sent, name));
    const errors = Object.fromEntries(missing.map((name) => [name, t("form.missing")]));
    const again = { typed, errors, wrongPassword: false, message: null };
    if (missing.length > 0) return unprocessable(again);

    return keepTyped(again, async () => {
      const done = await logIn(visitorOf(request), fields);
      if (done && "wait" in done) {
        const message = t("login.tooMany", { count: minutesIn(done.wait) });
        return data({ ...again, message }, tooManyRequests(done.wait));
      }
      if (!done) return unprocessable({ ...again, wrongPassword: true, message: t("login.wrong") });
      return signIn(request, { ...done, way: "password", returnTo: returnToOf(request) });
    });
  });
}

export default function Login() {
  const { t, passwordless } = usePage();
  const loaded = useLoaderData<typeof loader>();
  const { idpEnabled, passkeys, returnTo, maxAge, hasRegistration, lastUsed } = loaded;
  const refused = useActionData<typeof action>();
  const email = refused?.typed.email ?? loaded.email ?? undefined;
  const signsInAgain = loaded.tooOld || loaded.notice === "sign_in_again";
  const wrongPassword = refused?.wrongPassword && {
    "aria-invalid": true,
    "aria-describedby": "refusal",
    autoFocus: true,
  };
  return (
    <Page title={t("common.logIn")}>
      <CookiesBlocked />
      {!refused && <LoginNotice {...loaded} />}
      {loaded.tooOld && <Notice role="status">{t("login.signInAgain", { count: loaded.tooOld })}</Notice>}
      {loaded.tooOld && loaded.email && (
        <p>
          <Text of="login.signedInAs" values={{ address: loaded.email }} part={<strong dir="ltr" />} />
        </p>
      )}
      <LeaveProvider {...loaded} />
      {refused && "fault" in refused && <Unavailable requestId={refused.fault} />}
      {refused?.message && (
        <Notice id="refusal" role="alert">
          {refused.message}
        </Notice>
      )}
      {passwordless === null && (
        <Form method="post" action={withReturnTo("/login", returnTo, maxAge)}>
          <EmailField
            required
            autoComplete={passkeys ? "username webauthn" : "username"}
            defaultValue={email}
            enterKeyHint="next"
            error={refused?.errors.email}
          />
          {/* The link is on the label's line, and follows the button in the tab order. */}
          <div className="password">
            <PasswordField
              of="Password"
              name="password"
              autoComplete="current-password"
              enterKeyHint="go"
              error={refused?.errors.password}
              {...wrongPassword}
            />
            <SubmitButton>
              {t("common.logIn")}
              {lastUsed === "password" && <LastUsed />}
            </SubmitButton>
            <Link to={email ? `/forgot-password?${new URLSearchParams({ email })}` : "/forgot-password"}>
              {t("common.forgotPassword")}
            </Link>
          </div>
        </Form>
      )}
      {idpEnabled && <ExternalSignIn {...loaded} or={passwordless === null} lastUsed={lastUsed === "provider"} />}
      {passkeys && <PasskeySignIn {...loaded} or={!idpEnabled} lastUsed={lastUsed === "passkey"} />}
      {hasRegistration && !signsInAgain && (
        <p className="aside">
          <Text of="login.createAccount" part={<Link to={withReturnTo("/register", returnTo, maxAge)} />} />
        </p>
      )}
    </Page>
  );
}

type Loaded = ReturnType<typeof useLoaderData<typeof loader>>;

function LoginNotice(loaded: Loaded) {
  const { notice, provider, sessionEnded } = loaded;
  const t = useTexts();
  const done: Record<Exclude<LoginNoticeKey, "idp_failed">, string> = {
    password_reset: t("login.passwordReset"),
    passkey_set: t("login.passkeySet"),
    email_changed: t("login.emailChanged"),
    signed_out: t("login.signedOut"),
    invited: t("login.invited"),
    sign_in_again: t("login.signInAgain", { count: recentSignInMinutes }),
  };
  if (sessionEnded) return <Notice role="status">{t("login.sessionEnded")}</Notice>;
  const text = noticeText(done, notice);
  if (text) return <Notice role="status">{text}</Notice>;
  if (notice !== "idp_failed") return null;
  if (provider) return <SignInFailed {...loaded} provider={provider} />;
  return <Notice role="alert">{t("login.idpFailed", { provider: t("common.otherService") })}</Notice>;
}

/** Says why the sign-in failed and what can help. After some failures, another attempt would fail in the same way. */
function SignInFailed(failed: Loaded & { provider: string }) {
  const { problem, provider, returnTo, maxAge, hasRegistration, registration } = failed;
  const t = useTexts();
  const sentences = [t("login.idpFailed", { provider })];
  if (problem === "closed") sentences.push(t(registration === "closed" ? "register.closed" : "register.domains"));
  else if (problem) sentences.push(t(`failure.${problem}`, { provider }));
  const lacksAddress = problem === "noEmail" || problem === "unusable" || problem === "unverified";
  const connects = lacksAddress || problem === "disconnected";
  if (connects) sentences.push(t("failure.connect", { provider }));
  const canRetry = !connects && problem !== "closed" && problem !== "otherIdentity";
  return (
    <Notice role="alert">
      {sentences.join(" ")}{" "}
      {canRetry && (
        <Text of="failure.again" part={<Link to={withReturnTo("/auth/idp", returnTo, maxAge)} reloadDocument />} />
      )}
      {lacksAddress && hasRegistration && (
        <Text of="login.createAccount" part={<Link to={withReturnTo("/register", returnTo, maxAge)} />} />
      )}
    </Notice>
  );
}
