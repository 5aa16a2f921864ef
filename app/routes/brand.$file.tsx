import type { LoaderFunctionArgs } from "@remix-run/node";
import { brandFile } from "#server/features/branding.server";

/** The files of the brand. `app/entry.server.tsx` sends them, because a loader's answer cannot have bytes. */
export function loader({ params }: LoaderFunctionArgs) {
  if (!brandFile(params.file ?? "")) throw new Response(null, { status: 404 });
  return null;
}

/** Only for the page of a refused method. */
export default function BrandFile() {
  return null;
}
