import { spawn } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { startIdentityProvider } from "./identity-provider";

/** Starts an OpenID Connect provider on port 4000 of loopback, and the built Latchkey as a client of it. */
const port = process.env.PORT ?? "3000";
const provider = await startIdentityProvider(`http://localhost:${port}/auth/idp/callback`, 4000);

const latchkey = spawn(process.execPath, ["server/serve.js"], {
  stdio: "inherit",
  env: { ...process.env, PORT: port, ...provider.settings },
});

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => latchkey.kill(signal));
/** The last line of the start, after Latchkey's own. */
async function sayWhatToDo(): Promise<void> {
  const url = `http://localhost:${port}`;
  while (!(await fetch(`${url}/readyz`).catch(() => null))?.ok) await setTimeout(100);
  process.stdout.write(
    `Open ${url}/login, choose "Sign in with single sign-on", and type any name and any password.\n`,
  );
}

void sayWhatToDo();
latchkey.once("exit", (code) => process.exit(code ?? 0));
