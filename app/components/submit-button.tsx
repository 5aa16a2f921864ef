import { useNavigation } from "@remix-run/react";

interface SubmitButtonProps {
  children: string;
  className?: "quiet" | "danger";
  /** Distinguishes its form from the others of the page: the form's action, or the fields that it sends. */
  action?: string;
  sends?: Record<string, string>;
}

/** Submits its form. While any form of the page is being submitted, a click does nothing. */
export function SubmitButton({ children, className, action, sends = {} }: SubmitButtonProps) {
  const { formAction, formData } = useNavigation();
  const waiting = formData !== undefined;
  const busy =
    waiting &&
    (action ?? formAction) === formAction &&
    Object.entries(sends).every(([name, value]) => formData.get(name) === value);
  return (
    <button
      type="submit"
      className={className}
      aria-busy={busy}
      aria-disabled={waiting}
      onClick={(click) => waiting && click.preventDefault()}
    >
      {children}
    </button>
  );
}
