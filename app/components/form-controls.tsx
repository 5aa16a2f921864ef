import { Form, useActionData, useLoaderData, useNavigation } from "@remix-run/react";
import { type InputHTMLAttributes, type ReactNode, useId, useState } from "react";
import { useHydrated, useTexts } from "~/document/page-context";
import marks from "./provider-marks.svg";

// One file: with three, the pages of mailed links needed two more requests at their first load and exceeded 100 KiB.

export interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string;
  name: string;
  error?: string | undefined;
  /** Shown under the input. Screen readers announce each change. */
  hint?: ReactNode;
  end?: ReactNode;
  /** The options of a `<select>`, in place of an `<input>`. */
  children?: ReactNode;
}

/** The name of a person, which need not be given. */
export function NameField(input: Pick<FieldProps, "defaultValue" | "error">) {
  const t = useTexts();
  return <Field label={t("common.name")} name="name" autoComplete="name" dir="auto" {...input} />;
}

/** The symbol of a way to sign in, which a screen reader does not name. */
export function Mark({ of }: { of: string }) {
  return (
    <svg className="mark" aria-hidden="true" focusable="false">
      <use href={`${marks}#${of}`} />
    </svg>
  );
}

/** Only a page on https, or on this computer, may write to the clipboard. */
export function CopyButton({ text }: { text: string }) {
  const t = useTexts();
  const [isCopied, setIsCopied] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setIsCopied(true),
      () => {},
    );
  if (!useHydrated() || !navigator.clipboard) return null;
  return (
    <button type="button" className="button" aria-live="polite" onClick={copy}>
      {t(isCopied ? "inApp.copied" : "inApp.copyButton")}
    </button>
  );
}

/** Names the account of the page: another one may be signed in when the form is sent. */
export function AccountField() {
  const { account } = useLoaderData<{ account?: string }>();
  return account && <input type="hidden" name="account" value={account} />;
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

export function Field({ label, error, hint, end, "aria-describedby": describedBy, ...input }: FieldProps) {
  const id = useId();
  const { errors = {} } = useActionData<{ errors?: Record<string, string | undefined> }>() ?? {};
  const isFirst = Object.keys(errors).find((name) => errors[name]) === input.name;
  const Control = input.children ? "select" : "input";
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
        <Control
          id={id}
          {...(input as object)}
          {...(error && { "aria-invalid": true, autoFocus: isFirst })}
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
