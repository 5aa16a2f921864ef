import type { ReactNode } from "react";

interface NoticeProps {
  id?: string;
  role: "status" | "alert";
  /** Neither a success nor a failure: something is still to be done. */
  calm?: boolean;
  children: ReactNode;
}

/** A message about the last action: `status` for a success, `alert` for a failure. */
export function Notice({ id, role, calm, children }: NoticeProps) {
  return (
    <div id={id} role={role} className={calm ? "notice calm" : "notice"} tabIndex={-1}>
      {children}
    </div>
  );
}
