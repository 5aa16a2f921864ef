import { useNavigation } from "@remix-run/react";

interface SubmitButtonProps {
  children: string;
  className?: "quiet" | "danger";
  /** What sets its form apart from the page's others: where it posts to, or the fields it sends. */
  action?: string;
  sends?: Record<string, string>;
}

/** Sends its form, and no other meanwhile: busy until the answer is shown. */
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
