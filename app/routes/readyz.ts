import { isReady } from "#server/database.server";

export async function loader() {
  return (await isReady()) ? new Response("ready\n") : new Response("not ready\n", { status: 503 });
}
