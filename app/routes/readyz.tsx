import { isReady } from "#server/features/operator/health.server";
import { plainText } from "~/answers/responses";

export { default } from "~/answers/no-page";

export async function loader() {
  throw (await isReady()) ? plainText("ready\n", 200) : plainText("not ready\n", 503);
}
