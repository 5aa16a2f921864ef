import { recentSignInMinutes } from "#server/rules";
import { useTexts } from "~/page/language";

/** Says before a form is filled in that it will lead to the login page. */
export function SignInAgain({ needed }: { needed: boolean }) {
  const t = useTexts();
  if (!needed) return null;
  return <p className="muted">{t("account.signInAgain", { count: recentSignInMinutes })}</p>;
}
