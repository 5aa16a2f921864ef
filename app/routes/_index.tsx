import { type LoaderFunctionArgs, redirect } from "@remix-run/node";
import { respond } from "~/responses";
import { requireGuest } from "~/session.server";

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
