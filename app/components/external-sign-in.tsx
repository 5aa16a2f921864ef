import { withReturnTo } from "~/return-to";

/** A plain link, because `form-action 'self'` blocks a form that is redirected to the provider. */
export function ExternalSignIn({ provider, returnTo }: { provider: string | null; returnTo: string | null }) {
  return (
    <>
      <p className="or">or</p>
      <p>
        <a href={withReturnTo("/auth/idp", returnTo)} className="button quiet">
          Continue with {provider}
        </a>
      </p>
    </>
  );
}
