import { useFetcher, useNavigation } from "@remix-run/react";
import { type FormEvent, startTransition, useCallback, useEffect, useState } from "react";
import { PASSKEY_CHALLENGE_TTL_MS } from "#server/rules";
import { withReturnTo } from "~/answers/return-to";
import { usePasskeySupport, useTexts } from "~/document/page-context";
import { LastUsed } from "./external-sign-in";
import { Mark, SubmitButton } from "./form-controls";
import { Notice } from "./page";

const renewal = PASSKEY_CHALLENGE_TTL_MS - 60_000; // ms: before the challenge of a suggestion expires

interface PasskeySignInProps {
  returnTo: string | null;
  maxAge: number | null;
  or: boolean;
  lastUsed: boolean;
}

/** A button below the other ways to sign in, and the browser's suggestion in the email field. */
export function PasskeySignIn({ returnTo, maxAge, or, lastUsed }: PasskeySignInProps) {
  const t = useTexts();
  const { submit, data: refused, state, Form } = useFetcher<{ message: string }>();
  const support = usePasskeySupport();
  const [isAsking, setIsAsking] = useState(false);
  const isIdle = useNavigation().state === "idle" && state === "idle" && !isAsking;
  const action = withReturnTo("/auth/passkey", returnTo, maxAge);
  const send = useCallback((passkey: string) => submit({ passkey }, { method: "post", action }), [submit, action]);

  useEffect(() => {
    if (support.hidden !== false || !isIdle) return;
    let suggestion = new AbortController();
    const suggest = () => {
      suggestion.abort();
      suggestion = new AbortController();
      suggestPasskey(suggestion.signal)
        .then((passkey) => passkey && send(passkey))
        .catch(() => {}); // aborted, or a click on the button shows the error
    };
    suggest();
    const timer = setInterval(suggest, renewal);
    return () => {
      clearInterval(timer);
      suggestion.abort();
    };
  }, [support.hidden, isIdle, send]);

  /** If it fails, the form is sent without an answer, and the server's response shows the error. */
  async function signIn(event: FormEvent) {
    event.preventDefault();
    setIsAsking(true); // ends the suggestion: a browser runs one ceremony at a time
    const passkey = await import("~/components/passkey.client")
      .then(({ askForPasskey }) => askForPasskey())
      .catch(() => "");
    if (passkey !== null) send(passkey);
    startTransition(() => setIsAsking(false)); // together with the fetcher's state, which changes in a transition
  }

  return (
    <div {...support}>
      {or && <p className="or">{t("common.or")}</p>}
      {refused && state === "idle" && <Notice role="alert">{refused.message}</Notice>}
      <Form method="post" action={action} onSubmit={signIn}>
        <SubmitButton className="quiet" intent="passkey">
          <span>
            {t("passkeys.signIn")}
            {lastUsed && <LastUsed />}
          </span>
          <Mark of="passkey" />
        </SubmitButton>
      </Form>
    </div>
  );
}

/** The library would make the first load too large. Browsers without these functions show only the button. */
async function suggestPasskey(signal: AbortSignal): Promise<string | null> {
  const { parseRequestOptionsFromJSON: parse, isConditionalMediationAvailable } = PublicKeyCredential;
  if (!parse || !(await isConditionalMediationAvailable?.call(PublicKeyCredential))) return null;
  const body = new URLSearchParams({ purpose: "sign-in" });
  const options = await fetch("/auth/passkey", { method: "POST", body, signal });
  const publicKey = parse.call(PublicKeyCredential, await options.json());
  return JSON.stringify(await navigator.credentials.get({ mediation: "conditional", publicKey, signal }));
}
