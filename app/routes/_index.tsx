import { type LoaderFunctionArgs, redirect } from "@remix-run/node";
import { respond } from "~/answers/responses";
import { requireGuest } from "~/visitor/session";

export { default } from "~/answers/no-page";

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    await requireGuest(request);
    return redirect("/login");
  });
}
