import { type LoaderFunctionArgs, redirect } from "@remix-run/node";
import { requireGuest } from "~/session.server";

export async function loader({ request }: LoaderFunctionArgs) {
  await requireGuest(request);
  return redirect("/login");
}

export default function Index() {
  return null;
}
