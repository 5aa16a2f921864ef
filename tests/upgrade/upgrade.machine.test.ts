import { expect, inject, test } from "vitest";
import { createFixtures } from "../support/fixture";
import { until } from "../support/until";
import {
  completeRegistration,
  flowsOfAccountPage,
  flowsOfFirstRelease,
  requestRegistration,
  requestReset,
  reset,
} from "./flows";
import { createLoad, type Flow, type Visit } from "./load";
import { startSite } from "./site";

const { createFixture } = createFixtures();

const [last, before] = inject("releases");
const workingTree = ".";

/** Sessions and links of the release that runs first, as many as there are replacements. */
async function beginBefore(visit: (email: string) => Visit, addAccount: (email: string) => Promise<unknown>) {
  const sessions: Visit[] = [];
  const links: (() => Promise<void>)[] = [];
  for (let n = 0; n < 4; n++) {
    const signedIn = visit(`before-${n}@example.com`);
    await completeRegistration(signedIn, await requestRegistration(signedIn));
    const forgetful = visit(`forgetful-${n}@example.com`);
    await addAccount(forgetful.email);
    const resetLink = await requestReset(forgetful);
    const joining = visit(`joining-${n}@example.com`);
    const registrationLink = await requestRegistration(joining);
    sessions.push(signedIn);
    links.push(async () => {
      await reset(forgetful, resetLink);
      await completeRegistration(joining, registrationLink);
    });
  }
  const openSessions: Flow = async () => {
    for (const session of sessions) await session.get("/dashboard", "200");
  };
  return { openSessions, openLinks: () => links.pop()?.() };
}

/** No flow asks twice for the same mail. */
function mailedTwice(mails: { to: string; subject: string }[]): string[] {
  const sent = mails.map(({ to, subject }) => `${subject} to ${to}`);
  return sent.filter((mail, index) => sent.indexOf(mail) !== index);
}

test.each([
  { from: last, name: "the last release" },
  { from: before, name: "the release before" },
])("under load nobody notices an upgrade from $name ($from.version) or the way back", async ({ from }) => {
  await using fixture = await createFixture();
  const mails = await fixture.mailService();
  await using site = await startSite(fixture.databaseUrl, mails, from.folder);
  await using load = createLoad(mails, site.visitor);
  let accounts: Promise<unknown> = Promise.resolve();
  const addAccount = (email: string) => {
    accounts = accounts.then(() => fixture.addAccount(email)); // one connection, one statement at a time
    return accounts;
  };
  const { openSessions, openLinks } = await beginBefore(load.visit, addAccount);
  // CHANGELOG, 2.0.0: "A sign-in at the provider that is under way during the upgrade must be started again, over https."
  const flows = flowsOfFirstRelease(site.provider, addAccount, from.version.startsWith("1."));
  const more = from === last ? flowsOfAccountPage(site.provider, addAccount) : {};
  const start = performance.now();
  load.start({ ...flows, ...more, "sessions of before": openSessions });
  await load.everyFlow();
  for (const folder of [workingTree, from.folder]) {
    for (const machine of [0, 1]) {
      const [status] = await Promise.all([site.replace(machine, folder), openLinks()]);
      expect(status).toBe(0);
      await load.everyFlow();
    }
  }
  await load.end();
  const seconds = Math.round((performance.now() - start) / 1000);
  console.error(`${load.requests()} requests in ${seconds} s with two replacements there and two back`);
  expect(load.problems).toEqual([]);
  const waitingMails = "select from pgboss.job where data->>'email' is not null";
  await until(async () => (await fixture.query(waitingMails)).length === 0, "every mail is sent");
  expect(mailedTwice(mails.mails)).toEqual([]);
  await site.stop();
  expect(site.output()).not.toMatch(/"level":[56]0|A job failed/);
});
