import type { ActionFunctionArgs } from "@remix-run/node";
import { mailEvents } from "#server/features/operator/mail-events";
import { methodNotAllowed, respond } from "~/answers/responses";
import { readBody } from "~/forms/form";

const largestEvent = 262_144; // bytes; Postmark's have the headers of the mail, or all of it

/** The mail service tells what became of a mail. */
export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const events = mailEvents();
    if (!events) return new Response(null, { status: 404 });
    if (request.method !== "POST") return methodNotAllowed("POST");
    const answer = (status: number, more = {}) =>
      new Response(null, { status, headers: { "Cache-Control": "no-store", ...more } });
    if (!/^application\/json(?:;|$)/i.test(request.headers.get("Content-Type") ?? "")) return answer(415);
    const body = new TextDecoder().decode(await readBody(request, largestEvent));
    const isGenuine = await events.take(request.headers, body);
    return isGenuine ? answer(200) : answer(401, { "WWW-Authenticate": events.challenge });
  });
}

export function loader() {
  return mailEvents() ? methodNotAllowed("POST") : new Response(null, { status: 404 });
}
