import { useNavigation } from "@remix-run/react";
import { type KeyboardEvent, useState } from "react";

import { useHydrated, usePage } from "~/document/page-context";
import { Field, type FieldProps } from "./form-controls";

type PasswordFieldProps = Omit<FieldProps, "type" | "end" | "label"> & {
  of: "Password" | "Current" | "New" | "NewAgain";
};

const labels = {
  Password: "common.password",
  Current: "password.current",
  New: "password.new",
  NewAgain: "password.newAgain",
} as const;

/** A password field that can show its text and warns of Caps Lock. The text is hidden again before it is sent. */
export function PasswordField({ of, hint, ...input }: PasswordFieldProps) {
  const { t } = usePage();
  const [shown, setShown] = useState(false);
  const [capsLock, setCapsLock] = useState(false);
  const hydrated = useHydrated();
  const idle = useNavigation().state === "idle";
  const watchCapsLock = (event: KeyboardEvent) => setCapsLock(event.getModifierState("CapsLock"));
  return (
    <Field
      label={t(labels[of])}
      dir="ltr"
      type={shown && idle ? "text" : "password"}
      required
      autoCapitalize="none"
      autoCorrect="off"
      spellCheck={false}
      onKeyDown={watchCapsLock}
      onKeyUp={watchCapsLock}
      onBlur={() => setCapsLock(false)}
      hint={
        <>
          {capsLock && <span className="warning">{t("password.capsLock")} </span>}
          {hint}
        </>
      }
      end={
        hydrated ? (
          <button
            type="button"
            aria-label={t(`password.${shown ? "hide" : "show"}${of}`)}
            onClick={() => setShown(!shown)}
          >
            {t(shown ? "password.hide" : "password.show")}
          </button>
        ) : null
      }
      {...input}
    />
  );
}
