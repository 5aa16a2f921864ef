import { beforeEach, describe, expect, test } from "vitest";
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

describe("`keys rotate` makes a key that signs", () => {
  test("at once without another key", async () => {
    latchkey.configure(identityTokens());
    await rotate(0);
  });

  test("after ten minutes beside another key", async () => {
    latchkey.configure(identityTokens());
    await rotate(0);
    await rotate(tenMinutes);
  });

  test("at once if IDENTITY_KEY decrypts no other key", async () => {
    latchkey.configure(identityTokens());
    await rotate(0);
    await rotate(tenMinutes);
    latchkey.configure(identityTokens());
    await rotate(0);
  });
});

test("`keys rotate` needs IDENTITY_TOKENS", async () => {
  expect(await latchkey.command("keys", "rotate")).toEqual(failed("IDENTITY_TOKENS is off.\n"));
});

describe("`doctor`", () => {
  const settings = identityTokens();

  beforeEach(async () => {
    latchkey.configure(settings);
    await rotate(0);
  });

  const examine = async (changed: Record<string, string>) => {
    latchkey.configure(changed);
    const { stdout } = await latchkey.command("doctor");
    return stdout.split("\n").filter((line) => /identity|IDENTITY/.test(line));
  };

  test("is content with the IDENTITY_KEY of the signing key", async () => {
    expect(await examine(settings)).toEqual(["ok    identity      IDENTITY_KEY fits the signing key"]);
  });

  test("fails with another IDENTITY_KEY", async () => {
    expect(await examine(identityTokens())).toEqual([
      "fail  identity      IDENTITY_KEY does not decrypt the signing key. Fix: restore the one that encrypted it, or run " +
        "`latchkey keys rotate` and restart the service",
    ]);
  });

  test("says nothing of IDENTITY_KEY with IDENTITY_TOKENS off", async () => {
    expect(await examine({})).toEqual([]);
  });
});
