import type { ActionFunctionArgs } from "@remix-run/node";
import { readFields, signOut } from "~/request";
import { methodNotAllowed, respond } from "~/request/responses";

export { default } from "~/page/no-page";

export function loader() {
  throw methodNotAllowed("POST");
}

export function action({ request }: ActionFunctionArgs) {
  if (request.method !== "POST") return loader();
  return respond(async () => {
    await readFields(request, []);
    return signOut(request);
  });
}
