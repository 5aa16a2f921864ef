import { plainText } from "~/answers/responses";

export { default } from "~/answers/no-page";

/** Whether the process answers. */
export function loader() {
  throw plainText("ok\n", 200);
}
