import { type LoaderFunctionArgs, redirect } from "@remix-run/node";
import { requireGuest } from "~/request";
import { respond } from "~/request/responses";

export { default } from "~/page/no-page";

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    await requireGuest(request);
    return redirect("/login");
  });
}
