import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { publicHost } from "../deploy/https-visitor";
import { type ProxyName, startProxy } from "../deploy/proxies";
import { createEmptyDatabase, startServer } from "../support/server";

/** What testssl.sh says of every certificate of the tests, and of every machine without GOST. */
const ofTheTests =
  /^(?:engine_problem|cert_(?:trust|chain_of_trust|notAfter|expirationStatus|revocation)|DNS_CAArecord)/;

/**
 * What is no weakness here. The client chooses among strong ciphers, as Mozilla advises. No page has a secret beside a text
 * that somebody else chose (BREACH). Go has no renegotiation, and changes the keys of its tickets. Whether a ticket resumes a
 * session is no weakness either way, and testssl.sh reports a connect problem where it closes before the ticket of TLS 1.3
 * has arrived.
 */
const harmless = /^(?:cipher_order|BREACH|secure_renego|TLS_session_ticket|sessionresumption_ticket)/;

interface Finding {
  id: string;
  severity: string;
  finding: string;
}

test.each<ProxyName>(["nginx", "Caddy"])(
  "testssl.sh finds no weakness in the TLS of %s",
  { timeout: 300_000 },
  async (name) => {
    const database = await createEmptyDatabase("embedded");
    const settings = {
      HOST: "127.0.0.1",
      APP_URL: `https://${publicHost}`,
      TRUST_PROXY: "1",
      DATABASE_URL: database.url,
    };
    const latchkey = await startServer(settings);
    const proxy = await startProxy(name, latchkey.port);
    onTestFinished(async () => {
      await proxy.stop();
      await latchkey.stop();
      await database.drop();
    });
    const report = join(proxy.folder, "testssl.json");
    const options = ["--quiet", "--ip", "127.0.0.1", "--add-ca", join(proxy.folder, "ca.pem"), "--jsonfile", report];
    spawnSync("testssl", [...options, "--severity", "LOW", `https://${publicHost}:${proxy.port}/login`]);
    const findings: Finding[] = JSON.parse(await readFile(report, "utf8"));
    expect(findings.filter(({ id }) => !ofTheTests.test(id) && !harmless.test(id))).toEqual([]);
  },
);
