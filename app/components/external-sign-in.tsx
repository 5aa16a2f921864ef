/** A plain link, because `form-action 'self'` blocks a form that is redirected to the provider. */
export function ExternalSignIn({ provider }: { provider: string | null }) {
  return (
    <>
      <p className="or">or</p>
      <p>
        <a href="/auth/idp" className="button quiet">
          Continue with {provider}
        </a>
      </p>
    </>
  );
}
