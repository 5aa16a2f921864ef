import type { LoaderFunctionArgs } from "@remix-run/node";
import { selfReport } from "#server/features/health.server";
import { clientOf, isClientForwarded, originOf } from "#server/http/request-facts.server";
import { plainText } from "~/request/responses";

export { default } from "~/page/no-page";

/** Whether the process answers. `latchkey doctor` asks with `?doctor` how this request is seen. */
export function loader({ request }: LoaderFunctionArgs) {
  if (!new URL(request.url).searchParams.has("doctor")) throw plainText("ok\n", 200);
  const report = selfReport(originOf(request), clientOf(request), isClientForwarded(request));
  throw plainText(`${JSON.stringify(report)}\n`, 200);
}
