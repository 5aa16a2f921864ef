import type { LoaderFunctionArgs } from "@remix-run/node";
import { factsOf } from "#server/door/request-facts.server";
import { selfReport } from "#server/features/operator/health.server";
import { plainText } from "~/answers/responses";

export { default } from "~/answers/no-page";

/** Whether the process answers. `latchkey doctor` asks with `?doctor` how this request is seen. */
export function loader({ request }: LoaderFunctionArgs) {
  if (!new URL(request.url).searchParams.has("doctor")) throw plainText("ok\n", 200);
  throw plainText(`${JSON.stringify(selfReport(factsOf(request)))}\n`, 200);
}
