import { type LoaderFunctionArgs, redirect } from "@remix-run/node";
import { requireGuest } from "~/request";
import { respond } from "~/request/responses";

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    await requireGuest(request);
    return redirect("/login");
  });
}

/** Only for the page of a refused method. */
export default function Index() {
  return null;
}
