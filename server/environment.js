// What has to be set before the build is loaded.
import { existsSync } from "node:fs";
import { homedir } from "node:os";

if (existsSync(".env")) process.loadEnvFile(".env");
process.env.NODE_ENV ??= "production";

// `resolve`, which MikroORM loads, throws where HOME is unset and the user has no account, as in a container.
try {
  homedir();
} catch {
  process.env.HOME = "/nonexistent";
}
