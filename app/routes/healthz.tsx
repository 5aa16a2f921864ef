import type { LoaderFunctionArgs } from "@remix-run/node";
import { selfReport } from "#server/features/health.server";
import { factsOf } from "#server/http/request-facts.server";
import { plainText } from "~/request/responses";

export { default } from "~/page/no-page";

/** Whether the process answers. `latchkey doctor` asks with `?doctor` how this request is seen. */
export function loader({ request }: LoaderFunctionArgs) {
  if (!new URL(request.url).searchParams.has("doctor")) throw plainText("ok\n", 200);
  throw plainText(`${JSON.stringify(selfReport(factsOf(request)))}\n`, 200);
}
