import { Link } from "@remix-run/react";
import type { SignInProblem } from "#server/features/visitor/external-sign-in";
import { withReturnTo } from "~/answers/return-to";
import { Text, useTexts } from "~/document/language";
import { Notice } from "./page";

interface SignInFailedProps {
  problem: SignInProblem | null;
  provider: string;
  returnTo: string | null;
  maxAge: number | null;
  registrationClosed: boolean;
}

/** Says why the sign-in failed and what can help. After some failures, another attempt would fail in the same way. */
export function SignInFailed({ problem, provider, returnTo, maxAge, registrationClosed }: SignInFailedProps) {
  const t = useTexts();
  const sentences = [t("login.idpFailed", { provider })];
  if (problem === "closed") sentences.push(t(registrationClosed ? "register.closed" : "register.domains"));
  else if (problem) sentences.push(t(`failure.${problem}`, { provider }));
  const connects = problem === "disconnected" || problem === "noEmail" || problem === "unverified";
  if (connects) sentences.push(t("failure.connect", { provider }));
  const canRegister = connects && problem !== "disconnected" && !registrationClosed;
  const canRetry = !connects && problem !== "closed" && problem !== "otherIdentity";
  return (
    <Notice role="alert">
      {sentences.join(" ")}{" "}
      {(canRegister || canRetry) && (
        <Text
          of={canRetry ? "failure.again" : "login.createAccount"}
          parts={{
            again: (text) => <a href={withReturnTo("/auth/idp", returnTo, maxAge)}>{text}</a>,
            register: (text) => <Link to={withReturnTo("/register", returnTo, maxAge)}>{text}</Link>,
          }}
        />
      )}
    </Notice>
  );
}
