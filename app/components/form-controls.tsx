import { Form, useNavigation } from "@remix-run/react";
import { type InputHTMLAttributes, type ReactNode, useId } from "react";
import { useTexts } from "~/document/page-context";
import marks from "./provider-marks.svg";

// One file: with three, the pages of mailed links needed two more requests at their first load and exceeded 100 KiB.

export interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string;
  name: string;
  error?: string | undefined;
  /** Shown under the input. Screen readers announce each change. */
  hint?: ReactNode;
  end?: ReactNode;
}

export function Field({ label, error, hint, end, "aria-describedby": describedBy, ...input }: FieldProps) {
  const id = useId();
  const described = [describedBy, error && `${id}-error`, hint !== undefined && `${id}-hint`].filter(Boolean);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className={end === undefined ? undefined : "reveal"}>
        {input.readOnly && (
          <p className="value" dir={input.dir} aria-hidden="true">
            {input.value}
          </p>
        )}
        <input
          id={id}
          {...input}
          {...(error && { "aria-invalid": true, autoFocus: true })}
          aria-describedby={described.join(" ") || undefined}
        />
        {end}
      </div>
      {error && (
        <small id={`${id}-error`} className="error">
          {error}
        </small>
      )}
      {hint !== undefined && (
        <small id={`${id}-hint`} className="hint" role="status">
          {hint}
        </small>
      )}
    </div>
  );
}

/** The email field. Password managers take it for the user name. */
export function EmailField(input: Partial<Omit<FieldProps, "type">>) {
  const t = useTexts();
  return (
    <Field
      label={t("common.email")}
      name="email"
      type="email"
      dir="ltr"
      autoComplete="username"
      inputMode="email"
      autoCapitalize="none"
      autoCorrect="off"
      spellCheck={false}
      {...input}
    />
  );
}

/** The symbol of a way to sign in, which a screen reader does not name. */
export function Mark({ of }: { of: string }) {
  return (
    <svg className="mark" aria-hidden="true" focusable="false">
      <use href={`${marks}#${of}`} />
    </svg>
  );
}

/** A part of a button's accessible name: this browser signed in last with this button. */
export function LastUsed() {
  const t = useTexts();
  return (
    <>
      {" "}
      <small className="mark-last">{t("login.lastUsed")}</small>
    </>
  );
}

interface SubmitButtonProps {
  children: ReactNode;
  className?: "quiet" | "danger";
  intent?: string;
  sessionId?: string | undefined;
}

/** Submits its form. While a form of the page is being submitted, another click (a double click, too) does nothing. */
export function SubmitButton({ children, className, ...fields }: SubmitButtonProps) {
  const { formData } = useNavigation();
  const isSent = (name: keyof typeof fields) => formData?.get(name) === (fields[name] ?? null);
  return (
    <button
      type="submit"
      className={className}
      aria-busy={(isSent("intent") && isSent("sessionId")) || undefined}
      aria-disabled={formData !== undefined || undefined}
      onClick={(click) => (formData || click.detail > 1) && click.preventDefault()}
    >
      {children}
    </button>
  );
}

interface EmailFormProps {
  action: string;
  email: string;
  submit: string;
  quiet?: boolean;
}

export function EmailForm({ action, email, submit, quiet }: EmailFormProps) {
  return (
    <Form method="post" action={action}>
      <EmailField required defaultValue={email} enterKeyHint="send" />
      <SubmitButton {...(quiet && { className: "quiet" })}>{submit}</SubmitButton>
    </Form>
  );
}
