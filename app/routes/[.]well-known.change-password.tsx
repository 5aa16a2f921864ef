import { redirect } from "@remix-run/node";
import { methodNotAllowed } from "~/responses";

/** https://www.w3.org/TR/change-password-url/ */
export function loader() {
  return redirect("/forgot-password");
}

export function action() {
  throw methodNotAllowed("GET, HEAD");
}

/** Only for the page of a refused method. */
export default function ChangePassword() {
  return null;
}
