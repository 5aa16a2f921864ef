import { redirect } from "@remix-run/node";

/** https://www.w3.org/TR/change-password-url/ */
export function loader() {
  return redirect("/forgot-password");
}

/** Only for the page of a refused method. */
export default function ChangePassword() {
  return null;
}
