import { expect, test } from "vitest";
import { failed } from "../support/command";
import { identityTokens } from "../support/identity-key";
import { startLatchkey } from "../support/latchkey";

const latchkey = startLatchkey({ APP_URL: "http://localhost:1" });

const moment = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)/;
const tenMinutes = 600_000; // ms

/** Runs `keys rotate`, whose key must sign after `delay` ms. */
async function rotate(delay: number): Promise<void> {
  const before = Date.now();
  const { status, stdout, stderr } = await latchkey.command("keys", "rotate");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout.replace(moment, "MOMENT")).toBe("The new key is published and signs from MOMENT on.\n");
  const rotated = Date.parse(moment.exec(stdout)?.[1] ?? "") - delay;
  expect(rotated).toBeGreaterThanOrEqual(before);
  expect(rotated).toBeLessThanOrEqual(Date.now());
}

test("`keys rotate` makes a key that signs at once if IDENTITY_KEY decrypts none, otherwise after ten minutes", async () => {
  latchkey.configure(identityTokens());
  await rotate(0);
  await rotate(tenMinutes);
  latchkey.configure(identityTokens());
  await rotate(0);
});

test("`keys rotate` needs IDENTITY_TOKENS", async () => {
  expect(await latchkey.command("keys", "rotate")).toEqual(failed("IDENTITY_TOKENS is off.\n"));
});

test("`doctor` says whether IDENTITY_KEY decrypts the key that signs, and nothing with IDENTITY_TOKENS off", async () => {
  const examine = async (settings: Record<string, string>) => {
    latchkey.configure(settings);
    const { stdout } = await latchkey.command("doctor");
    return stdout.split("\n").filter((line) => /identity|IDENTITY/.test(line));
  };
  const settings = identityTokens();
  latchkey.configure(settings);
  await rotate(0);
  expect(await examine(settings)).toEqual(["ok    identity      IDENTITY_KEY fits the signing key"]);
  expect(await examine(identityTokens())).toEqual([
    "fail  identity      IDENTITY_KEY does not decrypt the signing key. Mend: set the one that encrypted it, or run " +
      "`latchkey keys rotate` and restart the service",
  ]);
  expect(await examine({})).toEqual([]);
});
