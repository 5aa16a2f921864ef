import { Link, useSearchParams } from "@remix-run/react";
import { Fragment } from "react";
import { linkMinutes, mailsPerQuarterHour } from "#server/rules";
import { Text, usePage } from "~/document/page-context";
import { EmailForm } from "./form-controls";
import { Notice, Page } from "./page";

interface SentPageProps {
  sent: { email: string };
  outcome: "forgot.sent" | "register.sent" | "register.sentDomains" | "register.sentInvited";
  again: string;
  login: string;
  isMailLogged: boolean;
}

/** The page after a request for a link. It is the same whether or not the address has an account. */
export function SentPage({ sent, outcome, again, login, isMailLogged }: SentPageProps) {
  const { t } = usePage();
  const askedAgain = useSearchParams()[0].has("again");
  const address = sent.email || t("sent.thatAddress");
  return (
    <Page title={t("sent.title")}>
      <Notice role="status" look="calm">
        {askedAgain && `${t("sent.askedAgain")} `}
        <Text of={outcome} values={{ address }} part={sent.email ? <strong dir="ltr" /> : <Fragment />} />{" "}
        {t("sent.works", { count: linkMinutes })}
      </Notice>
      {isMailLogged && (
        <p className="muted">
          {t("sent.logged")}
          {process.env.NODE_ENV === "development" && (
            <>
              {" "}
              <Text of="sent.loggedHere" part={<Link to="/dev/mails" reloadDocument />} />
            </>
          )}
        </p>
      )}
      <details open={askedAgain}>
        <summary>{t("sent.nothing")}</summary>
        <p>
          {t("sent.help")} {t("sent.limit", { count: mailsPerQuarterHour })}
        </p>
        <EmailForm
          action={`${again}${again.includes("?") ? "&" : "?"}again`}
          email={sent.email}
          submit={t("sent.sendAgain")}
          quiet
        />
      </details>
      <p className="aside">
        <Link to={login}>{t("common.backToLogin")}</Link>
      </p>
    </Page>
  );
}
