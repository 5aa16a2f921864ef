import type { ActionFunctionArgs } from "@remix-run/node";
import * as z from "zod";
import { readForm } from "~/forms.server";
import { methodNotAllowed } from "~/responses";
import { signOut } from "~/session.server";

export function loader() {
  throw methodNotAllowed("POST");
}

export async function action({ request }: ActionFunctionArgs) {
  await readForm(request, z.object({}));
  return signOut(request);
}

export default function Logout() {
  return null;
}
