import { useNavigation } from "@remix-run/react";

interface SubmitButtonProps {
  children: string;
  className?: "quiet" | "danger";
  intent?: string;
  sessionId?: string | undefined;
}

/** Submits its form. While any form of the page is being submitted, a click does nothing. */
export function SubmitButton({ children, className, ...fields }: SubmitButtonProps) {
  const { formData } = useNavigation();
  const isSent = (name: keyof typeof fields) => formData?.get(name) === (fields[name] ?? null);
  return (
    <button
      type="submit"
      className={className}
      aria-busy={(isSent("intent") && isSent("sessionId")) || undefined}
      aria-disabled={formData !== undefined || undefined}
      onClick={(click) => formData && click.preventDefault()}
    >
      {children}
    </button>
  );
}
