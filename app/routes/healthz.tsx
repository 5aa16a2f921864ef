import { methodNotAllowed, plainText } from "~/responses";

/** Whether the process answers. */
export function loader() {
  throw plainText("ok\n", 200);
}

export function action() {
  throw methodNotAllowed("GET, HEAD");
}

/** Only for the page of a refused method. */
export default function Health() {
  return null;
}
