import { withReturnTo } from "~/answers/return-to";
import { useTexts } from "~/document/language";
import { LastUsed } from "./form-controls";
import marks from "./provider-marks.svg";

/** The providers with a mark, in the colours of each one's guidelines. One without a colour of its own is black or white. */
const marked = ["Google", "GitHub", "GitLab", "Discord"];

interface ExternalSignInProps {
  provider: string | null;
  returnTo: string | null;
  or?: boolean;
  lastUsed?: boolean;
}

/** A plain link, because `form-action 'self'` blocks a form that is redirected to the provider. */
export function ExternalSignIn({ provider, returnTo, or = true, lastUsed = false }: ExternalSignInProps) {
  const t = useTexts();
  return (
    <>
      {or && <p className="or">{t("common.or")}</p>}
      <p>
        <a href={withReturnTo("/auth/idp", returnTo)} className="button quiet">
          {provider !== null && marked.includes(provider) && (
            <svg className="mark" aria-hidden="true" focusable="false">
              <use href={`${marks}#${provider}`} />
            </svg>
          )}
          {t("common.continueWith", { provider: provider ?? "" })}
          {lastUsed && <LastUsed />}
        </a>
      </p>
    </>
  );
}
