import type { CDPSession, Page } from "playwright-core";

/** Chromium's virtual authenticator: a platform's, with discoverable credentials and user verification. */
export class VirtualAuthenticator {
  readonly #cdp: CDPSession;
  readonly #authenticatorId: string;

  private constructor(cdp: CDPSession, authenticatorId: string) {
    this.#cdp = cdp;
    this.#authenticatorId = authenticatorId;
  }

  static async of(page: Page): Promise<VirtualAuthenticator> {
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
    return new VirtualAuthenticator(cdp, authenticatorId);
  }

  /** Whether the user answers the requests from now on. One that is made before waits, as a suggestion does that nobody chooses. */
  async setPresent(enabled: boolean): Promise<void> {
    await this.#cdp.send("WebAuthn.setAutomaticPresenceSimulation", {
      authenticatorId: this.#authenticatorId,
      enabled,
    });
  }

  async setVerified(isUserVerified: boolean): Promise<void> {
    await this.#cdp.send("WebAuthn.setUserVerified", { authenticatorId: this.#authenticatorId, isUserVerified });
  }

  async credentials() {
    const of = { authenticatorId: this.#authenticatorId };
    return (await this.#cdp.send("WebAuthn.getCredentials", of)).credentials;
  }

  /** As a passkey that is synchronised to another device. */
  async receive(credentials: Awaited<ReturnType<VirtualAuthenticator["credentials"]>>): Promise<void> {
    for (const credential of credentials) {
      await this.#cdp.send("WebAuthn.addCredential", { authenticatorId: this.#authenticatorId, credential });
    }
  }
}
