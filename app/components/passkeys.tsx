import { useSubmit } from "@remix-run/react";
import type { FormEvent } from "react";
import { useTexts } from "~/document/language";
import { usePasskeySupport } from "~/document/page-context";
import { ActionForm, ProtectedAction } from "./account-action";
import { Field } from "./form-controls";
import { type Moment, MomentLine } from "./moment";

function AddPasskey({ name, offered }: { name: string; offered: boolean }) {
  const t = useTexts();
  const submit = useSubmit();

  /** Where it fails, the server gets the form without an answer, and says why: the sign-in may be too long ago. */
  async function add(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const passkey = await import("~/components/passkey.client")
      .then(({ createPasskey }) => createPasskey())
      .catch(() => "");
    if (passkey === null) return;
    fields.set("passkey", passkey);
    submit(fields, { method: "post", action: "/dashboard" });
  }

  const label = t("passkeys.add");
  return (
    <ProtectedAction
      label={label}
      how={t("passkeys.how")}
      open={offered}
      intent="add-passkey"
      submit={label}
      onSubmit={add}
    >
      <Field label={t("account.name")} name="name" defaultValue={name} maxLength={64} autoComplete="off" />
    </ProtectedAction>
  );
}

export interface PasskeysOfAccount {
  items: { id: string; name: string; added: Moment; lastUsed: Moment | null; questioned: boolean }[];
  /** For one of this browser; `null`: the account has as many as it can have. */
  newName: string | null;
  /** Whether the page offers to add one. */
  offered: boolean;
}

/** Rows of the ways in. */
export function Passkeys({ items, newName, offered }: PasskeysOfAccount) {
  const t = useTexts();
  const support = usePasskeySupport();
  return (
    <>
      {items.map(({ id, name, added, lastUsed, questioned }) => (
        <li key={id} {...support}>
          <p>
            <bdi>{name}</bdi>
            <br />
            <small className="muted">
              <MomentLine of="passkeys.added" {...added} />
              <br />
              {lastUsed && <MomentLine of="passkeys.lastUsed" {...lastUsed} />}
            </small>
            {questioned && <strong>{t("passkeys.questioned")}</strong>}
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
