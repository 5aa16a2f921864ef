import { startAuthentication, startRegistration } from "@simplewebauthn/browser";

async function optionsFor(purpose: "sign-in" | "add") {
  const answer = await fetch("/auth/passkey", { method: "POST", body: new URLSearchParams({ purpose }) });
  if (!answer.ok) throw new Error(`No options: status ${answer.status}`);
  return answer.json();
}

/** Each resolves with the authenticator's answer, as JSON; with `null` when the user declines. */
const answerOf = (ceremony: Promise<object>) =>
  ceremony.then(JSON.stringify, (error: Error) => {
    if (error.name === "NotAllowedError") return null;
    throw error;
  });

export const createPasskey = async () => answerOf(startRegistration({ optionsJSON: await optionsFor("add") }));

export const askForPasskey = async () => answerOf(startAuthentication({ optionsJSON: await optionsFor("sign-in") }));
