import { Form, useActionData, useSubmit } from "@remix-run/react";
import { type FormEvent, useCallback, useEffect, useState } from "react";
import { useTexts } from "~/page/language";
import { useHydrated } from "~/page/page-context";
import { withReturnTo } from "~/request/return-to";
import { ActionForm, ProtectedAction } from "./account-action";
import { Field } from "./field";
import { type Moment, MomentLine } from "./moment";
import { SubmitButton } from "./submit-button";

const ceremonies = () => import("~/components/passkey.client");

/** Attributes of what only browsers with passkeys show. Its place is kept until then, so that nothing moves. */
export function usePasskeySupport(): { className?: string; hidden?: boolean } {
  const hydrated = useHydrated();
  return hydrated ? { hidden: !("PublicKeyCredential" in window) } : { className: "scripted" };
}

/** Below the other ways to sign in, and as the browser's suggestion in the email field. */
export function PasskeySignIn({ returnTo, or }: { returnTo: string | null; or: boolean }) {
  const t = useTexts();
  const submit = useSubmit();
  const support = usePasskeySupport();
  const refused = useActionData();
  const [declined, setDeclined] = useState(0);
  const action = withReturnTo("/login", returnTo);
  const send = useCallback(
    (passkey: string) => submit({ intent: "passkey", email: "", password: "", passkey }, { method: "post", action }),
    [submit, action],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: a ceremony that was refused or declined ended the suggestion
  useEffect(() => {
    if (support.hidden !== false) return;
    let current = true;
    const suggest = async () => {
      const passkey = await (await ceremonies()).suggestPasskey();
      if (current && passkey !== null) send(passkey);
    };
    suggest().catch(() => {}); // the button says what is wrong
    return () => {
      current = false;
      ceremonies().then(({ endSuggestion }) => endSuggestion());
    };
  }, [support.hidden, send, refused, declined]);

  /** Where it fails, the server is asked without an answer, and says so. */
  async function signIn(event: FormEvent) {
    event.preventDefault();
    const passkey = await ceremonies()
      .then(({ askForPasskey }) => askForPasskey())
      .catch(() => "");
    if (passkey === null) setDeclined(declined + 1);
    else send(passkey);
  }

  return (
    <div {...support}>
      {or && <p className="or">{t("common.or")}</p>}
      <Form method="post" action={action} onSubmit={signIn}>
        <SubmitButton className="quiet" intent="passkey">
          {t("passkeys.signIn")}
        </SubmitButton>
      </Form>
    </div>
  );
}

export interface PasskeyItem {
  id: string;
  name: string;
  added: Moment;
  lastUsed: Moment | null;
}

/** What the page knows of the account's passkeys. */
export interface PasskeysOfAccount {
  items: PasskeyItem[];
  /** A name for one of this browser; `null`: the account has as many as it can have. */
  newName: string | null;
  /** Whether the page offers to add one. */
  offered: boolean;
}

function AddPasskey({ name, offered }: { name: string; offered: boolean }) {
  const t = useTexts();
  const submit = useSubmit();

  /** Where it fails, the server gets the form without an answer, and says why: the sign-in may be too long ago. */
  async function add(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const passkey = await ceremonies()
      .then(({ createPasskey }) => createPasskey())
      .catch(() => "");
    if (passkey === null) return;
    fields.set("passkey", passkey);
    submit(fields, { method: "post", action: "/dashboard" });
  }

  return (
    <ProtectedAction
      label={t("passkeys.add")}
      how={t("passkeys.how")}
      open={offered}
      intent="add-passkey"
      submit={t("passkeys.add")}
      onSubmit={add}
    >
      <Field label={t("account.name")} name="name" defaultValue={name} maxLength={64} autoComplete="off" />
    </ProtectedAction>
  );
}

/** Rows of the ways in. */
export function Passkeys({ items, newName, offered }: PasskeysOfAccount) {
  const t = useTexts();
  const support = usePasskeySupport();
  return (
    <>
      {items.map(({ id, name, added, lastUsed }) => (
        <li key={id} {...support}>
          <p>
            <bdi>{name}</bdi>
            <br />
            <small className="muted">
              <MomentLine of="passkeys.added" {...added} />
              <br />
              {lastUsed && <MomentLine of="passkeys.lastUsed" {...lastUsed} />}
            </small>
          </p>
          <ActionForm intent="remove-passkey" submit={t("passkeys.remove")}>
            <input type="hidden" name="passkey" value={id} />
          </ActionForm>
        </li>
      ))}
      {newName !== null && (
        <li {...support}>
          <AddPasskey name={newName} offered={offered} />
        </li>
      )}
    </>
  );
}
