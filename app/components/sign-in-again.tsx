import { recentSignInMinutes } from "#server/rules";

/** Says before a form is filled in that it will lead to the login page. */
export function SignInAgain({ needed }: { needed: boolean }) {
  if (!needed) return null;
  return (
    <p className="muted">
      {`You logged in more than ${recentSignInMinutes} minutes ago, so we will ask you to log in again first.`}
    </p>
  );
}
