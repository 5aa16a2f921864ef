import type { ReactNode } from "react";

interface NoticeProps {
  id?: string;
  role: "status" | "alert";
  children: ReactNode;
}

/** Says what happened: `status` in passing, `alert` when something went wrong. */
export function Notice({ id, role, children }: NoticeProps) {
  return (
    <div id={id} role={role} className="notice" tabIndex={-1}>
      {children}
    </div>
  );
}
