import type { IdentityProvider } from "../../demo/identity-provider";
import { consent } from "../support/consent";
import { goodPassword, newPassword, twice } from "../support/passwords";
import type { Flow, Visit } from "./load";

const fieldsOf = (link: string) => Object.fromEntries(new URL(link, "http://localhost").searchParams);

async function expectSession(visit: Visit): Promise<void> {
  await visit.get("/dashboard", "200");
}

async function logIn(visit: Visit, typed = goodPassword): Promise<void> {
  await visit.post("/login", { email: visit.email, password: typed }, "302 /dashboard");
}

export async function requestReset(visit: Visit): Promise<string> {
  await visit.post("/forgot-password", { email: visit.email }, "200");
  return visit.mail("Reset your password");
}

export async function reset(visit: Visit, link: string): Promise<void> {
  await visit.get(link, "200");
  const { email = "", token = "" } = fieldsOf(link);
  const form = { email, token, ...twice(newPassword) };
  await visit.post("/reset-password", { ...form, passwordConfirmation: "another one" }, "422");
  await visit.post("/reset-password", form, "302 /login?notice=password_reset");
  await visit.mail("Your password was changed");
  await visit.post("/reset-password", form, "422");
}

export async function requestRegistration(visit: Visit): Promise<string> {
  await visit.post("/register", { email: visit.email }, "200");
  return visit.mail("Finish creating your account");
}

export async function completeRegistration(visit: Visit, link: string): Promise<void> {
  await visit.get(link, "200");
  await visit.post("/register/complete", { ...fieldsOf(link), ...twice(goodPassword) }, "302 /dashboard");
  await expectSession(visit);
}

/**
 * What each release since 1.0.0 can do.
 *
 * @param account creates an account with {@link goodPassword}
 * @param mustStartAgain whether a sign-in at the provider that began at one release may be refused by the other
 */
export function flowsOfFirstRelease(
  provider: IdentityProvider,
  account: (email: string) => Promise<unknown>,
  mustStartAgain: boolean,
) {
  const refused = "302 /login?notice=idp_failed";
  const signInAtProvider = async (visit: Visit): Promise<void> => {
    const { location } = await visit.get("/auth/idp", `302 ${provider.url}`);
    const expected = ["302 /dashboard", ...(mustStartAgain ? [refused] : [])];
    const answer = await visit.get(await consent(location ?? "", visit.email), ...expected);
    if (answer.location !== "/dashboard") await signInAtProvider(visit);
  };
  return {
    async register(visit) {
      await visit.get("/register", "200");
      await completeRegistration(visit, await requestRegistration(visit));
      await visit.post("/logout", {}, "302 /login");
      await visit.get("/dashboard", "302 /login");
      await logIn(visit);
      await expectSession(visit);
    },

    async reset(visit) {
      await account(visit.email);
      await visit.get("/forgot-password", "200");
      await reset(visit, await requestReset(visit));
      await visit.get("/login?notice=password_reset", "200");
      await visit.post("/login", { email: visit.email, password: goodPassword }, "422");
      await logIn(visit, newPassword);
      await expectSession(visit);
    },

    async "external sign-in"(visit) {
      for (let times = 0; times < 2; times++) {
        await signInAtProvider(visit);
        await expectSession(visit);
        await visit.post("/logout", {}, "302 /login");
      }
    },

    async forget(visit) {
      await account(visit.email);
      await logIn(visit);
      await visit.post("/dashboard", { intent: "delete-account", email: visit.email }, "302 /account-deleted");
      await visit.get("/dashboard", "302 /login");
    },
  } satisfies Record<string, Flow>;
}

/** What each release since 1.1.0 can do besides. */
export function flowsOfAccountPage(provider: IdentityProvider, account: (email: string) => Promise<unknown>) {
  const signIn = async (visit: Visit) => {
    await account(visit.email);
    await logIn(visit);
    await visit.mail("New sign-in to your account");
  };
  const act = (visit: Visit, intent: string, form: Record<string, string>, expected: string) =>
    visit.post("/dashboard", { intent, ...form }, expected);
  return {
    async applications(visit) {
      await visit.get("/auth/verify", "401");
      await signIn(visit);
      await visit.get("/auth/verify", "200");
      await visit.get("/auth/session", "200");
      await act(visit, "end-other-sessions", {}, "302 /dashboard?notice=sessions_ended");
      await visit.get("/auth/session", "200");
      await act(visit, "delete-account", { email: visit.email }, "302 /account-deleted");
      await visit.mail("Your account was deleted");
    },

    async "change the password"(visit) {
      await signIn(visit);
      await act(visit, "change-password", { currentPassword: "wrong", ...twice(newPassword) }, "422");
      const form = { currentPassword: goodPassword, ...twice(newPassword) };
      await act(visit, "change-password", form, "302 /dashboard?notice=password_changed");
      await visit.mail("Your password was changed");
      await expectSession(visit);
    },

    async "change the address"(visit) {
      const changed = `new-${visit.email}`;
      await signIn(visit);
      await act(visit, "change-email", { email: changed }, "200");
      await visit.mail("Your email address is being changed");
      const link = await visit.mail("Confirm your new email address", changed);
      await visit.get(link, "200");
      const notified = "302 /dashboard?notice=email_changed"; // 1.1.0 had no notice
      await visit.post("/account/email", fieldsOf(link), "302 /dashboard", notified);
      for (const address of [visit.email, changed]) await visit.mail("Your email address was changed", address);
      await expectSession(visit);
    },

    async "connect the provider"(visit) {
      await signIn(visit);
      const { location } = await act(visit, "connect-provider", {}, `302 ${provider.url}`);
      const callback = await consent(location ?? "", visit.email);
      await visit.get(callback, "302 /dashboard?notice=idp_connected");
      await visit.mail("Sign-in with");
      await act(visit, "unlink-provider", {}, "302 /dashboard?notice=idp_disconnected");
      await expectSession(visit);
    },
  } satisfies Record<string, Flow>;
}
