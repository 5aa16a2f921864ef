/** For a route without a page. Remix answers a refused method with the error page only if the route has a component. */
export default function NoPage() {
  return null;
}

/** Thrown by a route whose answer is not a page: `app/entry.server.tsx` sends it as it is. */
export function plainText(text: string, status: number): Response {
  return new Response(text, { status, headers: { "Content-Type": "text/plain; charset=utf-8" } });
}

/** Thrown like {@link plainText}: a file to save. Remix parses the JSON, so `app/entry.server.tsx` writes it again. */
export function jsonFile(name: string, content: object): Response {
  return Response.json(content, {
    headers: { "Content-Disposition": `attachment; filename="${name}"`, "Cache-Control": "no-store" },
  });
}
