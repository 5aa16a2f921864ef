import { useRevalidator, useSubmit } from "@remix-run/react";
import { type FormEvent, type PropsWithChildren, useEffect, useRef } from "react";
import { longestName } from "#server/rules";
import type { passkeyOffer, shownPasskeys } from "~/account/account-page";
import { usePasskeySupport, useTexts } from "~/document/page-context";
import { MomentLine, ProtectedAction, Row } from "./account-rows";
import { Field } from "./form-controls";

type PasskeysProps = PasskeysOfAccount & { email: string; userName: string | null };

export function Passkeys({ email, userName, ...passkeys }: PasskeysProps) {
  const { items, unusable, newName, offered, upgradable } = passkeys;
  const t = useTexts();
  const support = usePasskeySupport();
  usePasskeySignals(passkeys, email, userName ?? email);
  return (
    <>
      {items
        .filter(({ questioned }) => !questioned)
        .map((passkey) => (
          <PasskeyRow key={passkey.id} {...passkey} />
        ))}
      {newName !== null && (
        <Row {...support} name={t("passkeys.title")} detail={t("passkeys.how")}>
          <AddPasskey name={newName} offered={offered} upgradable={upgradable} />
        </Row>
      )}
      {unusable.map((passkey) => (
        <PasskeyRow key={passkey.id} {...passkey} />
      ))}
    </>
  );
}

export type PasskeysOfAccount = ReturnType<typeof shownPasskeys> & ReturnType<typeof passkeyOffer>["offer"];

/** The Signal API (WebAuthn Level 3, section 5.1.10), which TypeScript's library does not have. */
interface Signals {
  signalAllAcceptedCredentials?(options: object): Promise<void>;
  signalCurrentUserDetails?(options: object): Promise<void>;
}

/** Makes the browser forget removed passkeys and show the account's current address. */
function usePasskeySignals({ items, account }: PasskeysOfAccount, name: string, displayName: string) {
  const accepted = items.map(({ id }) => id).join();
  const { rpId, userId } = account;
  useEffect(() => {
    if (!("PublicKeyCredential" in window)) return;
    const browser: typeof PublicKeyCredential & Signals = PublicKeyCredential;
    const allAcceptedCredentialIds = accepted.split(",").filter(Boolean);
    const sent = [
      browser.signalAllAcceptedCredentials?.({ rpId, userId, allAcceptedCredentialIds }),
      browser.signalCurrentUserDetails?.({ rpId, userId, name, displayName }),
    ];
    for (const signal of sent) signal?.catch(() => {}); // a browser may decline
  }, [accepted, rpId, userId, name, displayName]);
}

type PasskeyRowProps = PropsWithChildren<PasskeysOfAccount["items"][number] & { madeFor?: string }>;

/** A passkey of the account, with the buttons of `children` before that which removes it. */
export function PasskeyRow({ id, name, added, lastUsed, madeFor, children }: PasskeyRowProps) {
  const t = useTexts();
  return (
    <Row
      {...usePasskeySupport()}
      name={<bdi>{name}</bdi>}
      detail={
        <>
          <MomentLine of="passkeys.added" {...added} />
          {lastUsed && <MomentLine of="passkeys.lastUsed" {...lastUsed} follows />}
          {madeFor !== undefined && (
            <>
              <br />
              {t("passkeys.unusable", { host: madeFor })}
            </>
          )}
        </>
      }
    >
      {children}
      <ProtectedAction
        label={t("account.remove")}
        how={t("passkeys.removeWarning", { name })}
        intent="remove-passkey"
        submit={t("passkeys.remove")}
        danger
      >
        <input type="hidden" name="passkey" value={id} />
      </ProtectedAction>
    </Row>
  );
}

type AddPasskeyProps = Pick<PasskeysOfAccount, "offered" | "upgradable"> & { name: string };

function AddPasskey({ name, offered, upgradable }: AddPasskeyProps) {
  const t = useTexts();
  const submit = useSubmit();
  const endUpgrade = usePasskeyUpgrade(upgradable);

  /** If it fails, the server gets the form without an answer and says why, e.g. because the sign-in is too old. */
  async function add(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    endUpgrade.current();
    const fields = new FormData(event.currentTarget);
    const passkey = await import("~/components/passkey.client")
      .then(({ createPasskey }) => createPasskey({ purpose: "add" }))
      .catch(() => "");
    if (passkey === null) return;
    fields.set("passkey", passkey);
    submit(fields, { method: "post", action: "." });
  }

  return (
    <ProtectedAction
      label={t("passkeys.add")}
      open={offered}
      intent="add-passkey"
      submit={t("passkeys.create")}
      onSubmit={add}
    >
      <Field label={t("account.name")} name="name" defaultValue={name} maxLength={longestName} autoComplete="off" />
    </ProtectedAction>
  );
}

/** @returns a ref to the function that ends the upgrade: a browser runs one ceremony at a time */
function usePasskeyUpgrade(isDue: boolean) {
  const { revalidate } = useRevalidator();
  const end = useRef(() => {});
  useEffect(() => {
    if (!isDue) return;
    const ceremony = new AbortController();
    end.current = () => ceremony.abort();
    upgrade(ceremony.signal)
      .then((isDone) => isDone && revalidate())
      .catch(() => {}); // the browser declines, or does not support it
    return end.current;
  }, [isDue, revalidate]);
  return end;
}

/** Conditional creation (WebAuthn Level 3, section 5.1.3). @returns whether the account has a passkey now */
async function upgrade(signal: AbortSignal): Promise<boolean> {
  const post = (fields: Record<string, string>) =>
    fetch("/auth/passkey", { method: "POST", body: new URLSearchParams({ purpose: "upgrade", ...fields }), signal });
  const browser = PublicKeyCredential;
  if (!(await browser.getClientCapabilities()).conditionalCreate) return false;
  const options = await post({});
  const publicKey = browser.parseCreationOptionsFromJSON(await options.json());
  const request = { mediation: "conditional", publicKey, signal }; // TypeScript's type of a creation lacks `mediation`
  const passkey = await navigator.credentials.create(request);
  return (await post({ passkey: JSON.stringify(passkey) })).ok;
}
