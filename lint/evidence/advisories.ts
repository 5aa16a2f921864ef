/** Published advisories of other products that stand where Latchkey stands, 2024 to 2026, by what went wrong. */
export const advisories: Record<string, string> = {
  "CVE-2025-27143": "Better Auth: a URL without a scheme is an open redirect.",
  "CVE-2026-107369": "nextjs-auth0: a path becomes `//` when it is serialised.",
};
