import type { Page } from "playwright-core";

/** Chromium's virtual authenticator: a platform's, with discoverable credentials and user verification. */
export async function addAuthenticator(page: Page) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: false,
    },
  });
  return {
    /** Whether the user answers the requests from now on. One that is made before waits, as a suggestion that nobody chooses. */
    setPresent: (enabled: boolean) => cdp.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId, enabled }),
    setVerified: (isUserVerified: boolean) => cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }),
    credentials: async () => (await cdp.send("WebAuthn.getCredentials", { authenticatorId })).credentials,
  };
}

export type VirtualAuthenticator = Awaited<ReturnType<typeof addAuthenticator>>;

/** Adds a passkey on the account page. */
export async function addPasskey(page: Page, authenticator: VirtualAuthenticator): Promise<void> {
  const create = page.getByRole("button", { name: "Create the passkey", exact: true });
  if (!(await create.isVisible())) await page.locator("summary", { hasText: "Add" }).click();
  await authenticator.setPresent(true);
  await create.click();
  await page.getByText("The passkey was added.").waitFor();
  await authenticator.setPresent(false);
}
