import { startAuthentication, startRegistration } from "@simplewebauthn/browser";

/** A purpose of `/auth/passkey`; a mailed link stands in for a session. */
type Creation = { purpose: "add" } | { purpose: "reset" | "register"; email: string; token: string };

export const createPasskey = async (asked: Creation) =>
  answerOf(startRegistration({ optionsJSON: await optionsFor(asked) }));

export const askForPasskey = async () =>
  answerOf(startAuthentication({ optionsJSON: await optionsFor({ purpose: "sign-in" }) }));

/** Each resolves with the authenticator's answer, as JSON; with `null` when the user declines. */
const answerOf = (ceremony: Promise<object>) =>
  ceremony.then(JSON.stringify, (error: Error) => {
    if (error.name === "NotAllowedError") return null;
    throw error;
  });

async function optionsFor(asked: Creation | { purpose: "sign-in" }) {
  const answer = await fetch("/auth/passkey", { method: "POST", body: new URLSearchParams(asked) });
  if (!answer.ok) throw new Error(`No options: status ${answer.status}`);
  return answer.json();
}
