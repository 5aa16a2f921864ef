import type { LoaderFunctionArgs } from "@remix-run/node";
import { mailPreview } from "#server/features/visitor/development";
import { requireLoopbackHost } from "~/answers/development";

/** A mail's HTML as a mail client shows it: with its own styles, without scripts and remote resources. */
export function loader({ params, request }: LoaderFunctionArgs) {
  requireLoopbackHost(request);
  const mail = mailPreview()?.[Number(params.position)];
  if (!mail) throw new Response(null, { status: 404 });
  return new Response(mail.html, {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      // `frame-ancestors` overrides the X-Frame-Options of every answer (CSP Level 3, section 6.4.2.2).
      "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'",
    },
  });
}
