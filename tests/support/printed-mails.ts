export interface SentMail {
  to: string;
  from: string;
  subject: string;
  text: string;
  link: URL | null;
}

function parse(printed: string): SentMail {
  const [head = "", ...rest] = printed.split("\n\n");
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(head)?.[1] ?? "";
  const text = rest.join("\n\n");
  const link = /\S+[?&]token=\S+/.exec(text)?.[0];
  return {
    to: header("To"),
    from: header("From"),
    subject: header("Subject"),
    text,
    link: link ? new URL(link) : null,
  };
}

/** The mails in standard output, oldest first. */
export function mailsIn(output: string): SentMail[] {
  return [...output.matchAll(/^--- mail ---\n([\s\S]*?)\n--- end mail ---$/gm)].map(([, printed]) =>
    parse(printed ?? ""),
  );
}
