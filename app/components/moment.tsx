import { localMomentIn } from "#server/languages/translate";
import type { shownMoment } from "~/account/account-page";
import { Text } from "~/document/language";
import { useHydrated, usePage } from "~/document/page-context";

type MomentLineProps = ReturnType<typeof shownMoment> & {
  /** Whether another moment precedes it on the line. */
  follows?: boolean;
  of: "sessions.since" | "sessions.lastSeen" | "passkeys.added" | "passkeys.lastUsed";
};

/** Only a script knows the visitor's time zone. */
export function MomentLine({ of, at, ago, exact, follows }: MomentLineProps) {
  const { language } = usePage();
  const title = useHydrated() ? localMomentIn(language, new Date(at)) : exact;
  const time = (text: string) => (
    <time dateTime={at} title={title}>
      {text}
    </time>
  );
  return (
    <>
      {follows && " · "}
      <Text of={of} values={{ moment: ago }} parts={{ time }} />
    </>
  );
}
