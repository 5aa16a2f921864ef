import type { LoaderFunctionArgs } from "@remix-run/node";
import { useLoaderData } from "@remix-run/react";
import { mailPreview } from "#server/features/visitor/development";
import { requireLoopbackHost } from "~/answers/development";
import { Page } from "~/components/page";

export function loader({ request }: LoaderFunctionArgs) {
  requireLoopbackHost(request);
  const mails = mailPreview();
  if (!mails) throw new Response(null, { status: 404 });
  return mails.map(({ to, subject, text }) => ({ to, subject, text }));
}

/** In CSS pixels. */
const widths = [
  ["phone", 375],
  ["desktop", 768],
] as const;

/** The mails of the `log` driver. The route exists in development only (remix.config.js). */
export default function Mails() {
  const mails = useLoaderData<typeof loader>();
  return (
    <Page title="Mails" wide>
      <p>
        <a href="/dev/session">Sign in without a mail</a>
      </p>
      {mails.length === 0 && <p>None yet. They are kept until the server restarts.</p>}
      {mails.map(({ to, subject, text }, position) => (
        <section key={text} aria-labelledby={`mail-${position}`}>
          <h2 id={`mail-${position}`}>{subject}</h2>
          <p className="muted">To {to}</p>
          <p className="mail">
            <Linked text={text} />
          </p>
          <div className="previews">
            {widths.map(([device, width]) => (
              <iframe
                key={device}
                title={`${subject}, ${device}`}
                src={`/dev/mails/${position}`}
                sandbox=""
                width={width}
                height={640}
              />
            ))}
          </div>
          <p>
            <a href={`/dev/mails/${position}`}>As HTML</a>
          </p>
        </section>
      ))}
    </Page>
  );
}

function Linked({ text }: { text: string }) {
  return text.split(/(https?:\/\/\S+)/).map((part, position) =>
    position % 2 === 1 ? (
      <a key={part} href={part}>
        {part}
      </a>
    ) : (
      part
    ),
  );
}
