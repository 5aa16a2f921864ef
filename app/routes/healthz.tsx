import { plainText } from "~/responses";

/** Whether the process answers. */
export function loader() {
  throw plainText("ok\n", 200);
}

/** Only for the page of a refused method. */
export default function Health() {
  return null;
}
