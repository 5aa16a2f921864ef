import { useNavigation } from "@remix-run/react";
import { type KeyboardEvent, useState } from "react";
import { useHydrated } from "~/hydrated";
import { Field, type FieldProps } from "./field";

/** A password field that can show its text and warns of Caps Lock. The text is hidden again before it is sent. */
export function PasswordField({ hint, ...input }: Omit<FieldProps, "type" | "end">) {
  const [shown, setShown] = useState(false);
  const [capsLock, setCapsLock] = useState(false);
  const hydrated = useHydrated();
  const idle = useNavigation().state === "idle";
  const watchCapsLock = (event: KeyboardEvent) => setCapsLock(event.getModifierState("CapsLock"));
  return (
    <Field
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
          {capsLock && <span className="warning">Caps Lock is on. </span>}
          {hint}
        </>
      }
      end={
        hydrated ? (
          <button
            type="button"
            aria-label={`${shown ? "Hide" : "Show"} ${input.label.toLowerCase()}`}
            onClick={() => setShown(!shown)}
          >
            {shown ? "Hide" : "Show"}
          </button>
        ) : null
      }
      {...input}
    />
  );
}
