import { redirect } from "@remix-run/node";

export { default } from "~/answers/no-page";

/** https://www.w3.org/TR/change-password-url/ */
export function loader() {
  return redirect("/forgot-password");
}
