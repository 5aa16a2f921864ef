import { useNavigation } from "@remix-run/react";
import { type KeyboardEvent, useEffect, useState } from "react";
import { useHydrated, usePage } from "~/document/page-context";
import { Field, type FieldProps } from "./form-controls";

interface NewPasswordProps {
  /** "New" beside the current password: an account of a mailed link may have none. */
  of: "Password" | "New";
  email: string;
  errors: Record<string, string>;
}

export function NewPasswordFields({ of, email, errors }: NewPasswordProps) {
  const { shortestPassword } = usePage();
  const [password, setPassword] = useState("");
  return (
    <>
      <PasswordField
        of={of}
        name="password"
        autoComplete="new-password"
        minLength={shortestPassword}
        enterKeyHint="next"
        error={errors.password}
        hint={<PasswordStrength password={password} email={email} />}
        onInput={(input) => setPassword(input.currentTarget.value)}
      />
      <PasswordField
        of="Again"
        name="passwordConfirmation"
        autoComplete="new-password"
        enterKeyHint="go"
        error={errors.passwordConfirmation}
      />
    </>
  );
}

type PasswordFieldProps = Omit<FieldProps, "type" | "end" | "label"> & {
  of: "Password" | "Current" | "New" | "Again";
};

const labels = {
  Password: "common.password",
  Current: "password.current",
  New: "password.new",
  Again: "password.again",
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

/** Says how hard a password is to guess while it is typed. The estimator is loaded with the first character. */
function PasswordStrength({ password, email }: { password: string; email: string }) {
  const { t, brand, shortestPassword: count } = usePage();
  const [score, setScore] = useState<0 | 1 | 2 | 3 | 4 | null>(null);

  useEffect(() => {
    let current = true;
    const estimate = async () => {
      const { strengthOf } = await import("~/components/password-strength.client");
      if (current) setScore(strengthOf(password, email, brand.name));
    };
    if (password !== "") estimate().catch(() => setScore(null));
    return () => {
      current = false;
    };
  }, [password, email, brand.name]);

  if (password === "" || score === null) return t("strength.use", { count });
  const tooShort = [...password].length < count;
  const shown = tooShort ? 0 : score;
  return (
    <span data-score={shown}>
      <progress className="strength" aria-hidden="true" max={5} value={shown + 1} />
      {tooShort ? t("strength.tooShort", { count }) : t(`strength.score${score}`)}
    </span>
  );
}
