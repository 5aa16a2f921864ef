import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirect } from "@remix-run/node";
import { Form, Link, useActionData, useLoaderData, useLocation } from "@remix-run/react";
import { Fragment, useId } from "react";
import { config } from "#server/config";
import { makeOwnToken, offeredDays, removeToken, tokensOf } from "#server/features/owner/access-tokens";
import type { Owner } from "#server/features/owner/signed-in";
import { localMomentIn } from "#server/languages/translate";
import { longestTokenName, maxAccessTokens, recentSignInMinutes } from "#server/rules";
import { shownMoment } from "~/account/account-page";
import { respond, unprocessable } from "~/answers/responses";
import { AccountField, CopyButton, Field, SubmitButton } from "~/components/form-controls";
import { Notice, Page } from "~/components/page";
import { Text, useHydrated, usePage, useTexts } from "~/document/page-context";
import { titled } from "~/document/title";
import { readFields } from "~/forms/form";
import { endedSession, mustSignInAgain, requireAccount, requireRecentSignIn, requireUser } from "~/visitor/session";
import { textsFor } from "~/visitor/visitor";

export { pageHeaders as headers } from "~/answers/responses";

export const handle = titled("tokens.title");

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    requireTokens();
    const owner = await requireUser(request);
    const { appUrl, returnOrigins } = config();
    const tokens = (await tokensOf(owner.user.id)).map(({ id, name, origin, createdAt, expiresAt, lastUsedAt }) => ({
      id,
      name,
      origin,
      made: shownMoment(owner, createdAt),
      ends: shownMoment(owner, expiresAt),
      lastUsed: lastUsedAt ? shownMoment(owner, lastUsedAt) : null,
    }));
    return {
      account: owner.user.id,
      tokens,
      newId: crypto.randomUUID(),
      origins: [...returnOrigins, appUrl].filter((origin) => !origin.includes("*")),
      hasWildcard: returnOrigins.some((origin) => origin.includes("*")),
      days: offeredDays(),
      signInAgain: mustSignInAgain(owner),
    };
  });
}

interface Answer {
  made?: { name: string; token: string };
  done?: string;
  errors?: Record<string, string>;
  typed?: Record<string, string>;
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    requireTokens();
    const { fields: form, sent } = await readFields(request, "intent", "token", "name", "origin", "days", "account");
    const owner = await requireUser(request);
    requireAccount(request, owner, sent.account);
    if (form.intent === "remove-token") return remove(request, owner, form);
    if (form.intent === "make-token") {
      await requireRecentSignIn(request, owner);
      return make(request, owner, form);
    }
    return unprocessable<Answer>({ errors: { intent: textsFor(request)("account.chooseAction") } });
  });
}

function requireTokens(): void {
  if (!config().accessTokens) throw new Response(null, { status: 404 });
}

type TokenForm = Record<"intent" | "token" | "name" | "origin" | "days", string>;

async function remove(request: Request, owner: Owner, { token }: TokenForm) {
  const t = textsFor(request);
  const outcome = await removeToken(owner, token);
  if (outcome === "session_ended") return endedSession(request);
  return outcome
    ? data<Answer>({ done: t("tokens.removed") })
    : unprocessable<Answer>({ errors: { intent: t("tokens.gone") } });
}

const messages = { name: "tokens.enterName", origin: "tokens.chooseOrigin", days: "tokens.chooseDays" } as const;

async function make(request: Request, owner: Owner, form: TokenForm) {
  const t = textsFor(request);
  const refused = (errors: Record<string, string>) => unprocessable<Answer>({ errors, typed: form });
  const outcome = await makeOwnToken(owner, form, form.token);
  if (outcome === "session_ended" || outcome === "suspended") return endedSession(request);
  if (outcome === "made_already") return redirect("/account/tokens");
  if (outcome === "too_many") return refused({ intent: t("tokens.tooMany", { count: maxAccessTokens }) });
  if (outcome === "questioned") return refused({ intent: t("tokens.questioned") });
  if ("wrong" in outcome) return refused(Object.fromEntries(outcome.wrong.map((field) => [field, t(messages[field])])));
  const made = { name: form.name.trim(), token: outcome.token };
  return data<Answer>({ made }, { headers: { "Cache-Control": "no-store" } });
}

export default function Tokens() {
  const { t, passwordless } = usePage();
  const { tokens } = useLoaderData<typeof loader>();
  const { made, done, errors } = useActionData<Answer>() ?? {};
  const { key } = useLocation();
  return (
    <Page title={t("tokens.title")} wide>
      <p className="aside">
        <Link to="/dashboard">{t("common.accountTitle")}</Link>
      </p>
      {made && <NewToken {...made} />}
      {done && <Notice role="status">{done}</Notice>}
      {errors?.intent && <Notice role="alert">{errors.intent}</Notice>}
      <p>{t("tokens.lead")}</p>
      <p>{t(passwordless === null ? "tokens.end" : "tokens.endPasswordless")}</p>
      {tokens.length === 0 ? (
        <p>{t("tokens.none")}</p>
      ) : (
        <ul className="rows">
          {tokens.map((token) => (
            <TokenRow key={token.id} {...token} />
          ))}
        </ul>
      )}
      <section>
        <h2>{t("tokens.make")}</h2>
        {/* A new key after each action: the form is empty again, as after a page load. */}
        <Fragment key={key}>
          <MakeToken />
        </Fragment>
      </section>
    </Page>
  );
}

/** The only page that ever has it. */
function NewToken({ name, token }: { name: string; token: string }) {
  const t = useTexts();
  return (
    <>
      <Notice role="status">{t("tokens.shownOnce", { name })}</Notice>
      <div className="field">
        <p className="value" dir="ltr">
          {token}
        </p>
        <CopyButton text={token} />
      </div>
    </>
  );
}

type Token = ReturnType<typeof useLoaderData<typeof loader>>["tokens"][number];

function TokenRow({ id, name, origin, made, ends, lastUsed }: Token) {
  const t = useTexts();
  const [scheme, host] = origin.split(/(?<=\/\/)/);
  const label = useId();
  return (
    <li>
      <p>
        <span id={label}>
          <bdi>{name}</bdi>
        </span>
        <small className="muted">
          <bdi dir="ltr">
            {scheme}
            <wbr />
            {host}
          </bdi>
        </small>
        <small className="muted">
          <Moment of="tokens.made" {...made} />
        </small>
        <small className="muted">
          <Moment of="tokens.ends" {...ends} />
        </small>
        <small className="muted">
          {lastUsed ? <Moment of="tokens.lastUsed" {...lastUsed} /> : t("tokens.neverUsed")}
        </small>
      </p>
      <fieldset className="actions" aria-labelledby={label}>
        <Form method="post" action="/account/tokens">
          <input type="hidden" name="intent" value="remove-token" />
          <input type="hidden" name="token" value={id} />
          <AccountField />
          <SubmitButton className="quiet">{t("account.remove")}</SubmitButton>
        </Form>
      </fieldset>
    </li>
  );
}

type MomentProps = Token["made"] & { of: "tokens.made" | "tokens.ends" | "tokens.lastUsed" };

// Not the account page's: a chunk that both shared would take that page over 100 KiB.
function Moment({ of, at, exact }: MomentProps) {
  const { language } = usePage();
  const moment = useHydrated() ? localMomentIn(language, new Date(at)) : exact;
  return <Text of={of} values={{ moment }} part={<time dateTime={at} />} />;
}

function MakeToken() {
  const t = useTexts();
  const { newId, origins, hasWildcard, days, signInAgain } = useLoaderData<typeof loader>();
  const { errors = {}, typed = {} } = useActionData<Answer>() ?? {};
  const field = (name: "name" | "origin" | "days") => ({ name, error: errors[name], defaultValue: typed[name] });
  const origin = { label: t("tokens.application"), ...field("origin") };
  const known = origins.map((one) => (
    <option key={one} value={one}>
      {one}
    </option>
  ));
  return (
    <Form method="post" action="/account/tokens">
      {signInAgain && <p className="muted">{t("account.signInAgain", { count: recentSignInMinutes })}</p>}
      <input type="hidden" name="intent" value="make-token" />
      <input type="hidden" name="token" value={newId} />
      <AccountField />
      <Field label={t("tokens.name")} {...field("name")} required maxLength={longestTokenName} autoComplete="off" />
      {hasWildcard && <datalist id="origins">{known}</datalist>}
      {hasWildcard ? (
        <Field {...origin} required dir="ltr" inputMode="url" list="origins" autoComplete="off" spellCheck={false} />
      ) : (
        <Field {...origin}>{known}</Field>
      )}
      <Field
        label={t("tokens.days")}
        {...field("days")}
        defaultValue={typed.days ?? String(days.includes(90) ? 90 : days.at(-1))}
      >
        {days.map((count) => (
          <option key={count} value={count}>
            {t("tokens.dayCount", { count })}
          </option>
        ))}
      </Field>
      <SubmitButton>{t("tokens.make")}</SubmitButton>
    </Form>
  );
}
