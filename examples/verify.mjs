// Verifies a Remote-Token with jose: the signature, who issued it, for whom, and until when.
//
//     node examples/verify.mjs JWKS_URL ISSUER AUDIENCE <tokens
//
// ISSUER is Latchkey's APP_URL, AUDIENCE the origin at which browsers reach the application. Prints the claims of each
// line's token.
import { createInterface } from "node:readline";
import { createRemoteJWKSet, jwtVerify } from "jose";

const [jwksUrl, issuer, audience] = process.argv.slice(2);
const keys = createRemoteJWKSet(new URL(jwksUrl), { cacheMaxAge: 300_000 }); // fetches them when it needs one
const options = { algorithms: ["ES256"], issuer, audience, requiredClaims: ["exp", "sub"], clockTolerance: 5 };
const verify = (token) => jwtVerify(token, keys, options);

for await (const line of createInterface({ input: process.stdin })) {
  const said = await verify(line.trim()).then(
    ({ payload }) => JSON.stringify(payload),
    ({ code }) => `refused: ${code}`,
  );
  process.stdout.write(`${said}\n`);
}
