import { startAuthentication, startRegistration, WebAuthnAbortService } from "@simplewebauthn/browser";

async function optionsFor(purpose: "sign-in" | "add") {
  const answer = await fetch("/auth/passkey", { method: "POST", body: new URLSearchParams({ purpose }) });
  if (!answer.ok) throw new Error(`No options: status ${answer.status}`);
  return answer.json();
}

/** Each resolves with the authenticator's answer, as JSON; `null` when the user or another ceremony ended it. */
const answerOf = (ceremony: Promise<object>) =>
  ceremony.then(JSON.stringify, (error: Error) => {
    if (["NotAllowedError", "AbortError"].includes(error.name)) return null;
    throw error;
  });

export const createPasskey = async () => answerOf(startRegistration({ optionsJSON: await optionsFor("add") }));

export const askForPasskey = async () => answerOf(startAuthentication({ optionsJSON: await optionsFor("sign-in") }));

/** Suggests passkeys in the email field until one is chosen, or another ceremony begins. Its challenge is renewed in time. */
export async function suggestPasskey(): Promise<string | null> {
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return null;
  for (;;) {
    const optionsJSON = await optionsFor("sign-in");
    const old = new Promise<undefined>((resolve) => setTimeout(resolve, optionsJSON.timeout * 0.8));
    const answer = await Promise.race([answerOf(startAuthentication({ optionsJSON, useBrowserAutofill: true })), old]);
    if (answer !== undefined) return answer;
  }
}

export const endSuggestion = () => WebAuthnAbortService.cancelCeremony();
