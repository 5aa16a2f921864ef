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
function useExact({ at, exact }: Pick<MomentLineProps, "at" | "exact">): string {
  const { language } = usePage();
  return useHydrated() ? localMomentIn(language, new Date(at)) : exact;
}

export const Moment = (moment: ReturnType<typeof shownMoment>) => (
  <time dateTime={moment.at} title={moment.ago}>
    {useExact(moment)}
  </time>
);

export function MomentLine({ of, at, ago, exact, follows }: MomentLineProps) {
  const title = useExact({ at, exact });
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
