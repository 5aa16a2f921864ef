import { isReady } from "#server/features/health.server";
import { plainText } from "~/request/responses";

export { default } from "~/page/no-page";

export async function loader() {
  throw (await isReady()) ? plainText("ready\n", 200) : plainText("not ready\n", 503);
}
