import type { ReactNode } from "react";

interface NoticeProps {
  id?: string;
  role: "status" | "alert";
  children: ReactNode;
}

/** A message about the last action: `status` for a success, `alert` for a failure. */
export function Notice({ id, role, children }: NoticeProps) {
  return (
    <div id={id} role={role} className="notice" tabIndex={-1}>
      {children}
    </div>
  );
}
