import type { ReactNode } from "react";
import { ActionForm } from "./action-form";
import { Disclosure } from "./disclosure";
import { SignInAgain } from "./sign-in-again";

interface ProtectedActionProps {
  label: string;
  /** What will happen. */
  how?: string;
  intent: string;
  submit: string;
  danger?: boolean;
  signInAgain: boolean;
  open?: boolean;
  children?: ReactNode;
  /** Below the form. */
  after?: ReactNode;
}

/** An account action that asks for a recent sign-in. Its form is shown when it is asked for. */
export function ProtectedAction({
  label,
  how,
  intent,
  submit,
  danger = false,
  signInAgain,
  open = false,
  children,
  after,
}: ProtectedActionProps) {
  return (
    <Disclosure label={label} open={open} danger={danger}>
      {how && <p>{how}</p>}
      <SignInAgain needed={signInAgain} />
      <ActionForm fields={{ intent }} submit={submit} danger={danger}>
        {children}
      </ActionForm>
      {after}
    </Disclosure>
  );
}
