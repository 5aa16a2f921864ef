/** What a reason denies: it is wrong as soon as one of them exists. Patterns, not case-sensitive. */
export interface Denied {
  /** Names of settings. */
  settings?: string;
  /** Names of the events in `server/events/events.ts`. */
  events?: string;
  /** Files in `app/routes/`, without the extension. */
  routes?: string;
  /** Dependencies of `package.json`. */
  packages?: string;
  /** Text in `app/` and `server/`, without the languages. */
  code?: string;
}

export type Reason = string | [text: string, denied: Denied];

const noHeader =
  "In part: the 200 of `/auth/verify`, which no browser sees, the 503 of a pipelined request, the status alone of a request that Node's parser refuses, and the port of the metrics, which no browser asks, have no such header.";

/**
 * Why a requirement does not apply, is not met, is met by a document, or is met in part beside the tests that show the
 * rest. The key is a requirement, a section or a chapter of OWASP ASVS 5.0.0. A reason of "Does not apply" names what must
 * not exist.
 */
export const reasons: Record<string, Reason> = {
  "1.2.5": [
    "Does not apply: the service runs no shell. Its one program is Node itself, with a fixed text, for initdb.",
    { code: String.raw`shell: true|execSync|import \{ exec` },
  ],
  "1.2.6": ["Does not apply: no LDAP.", { packages: "ldap" }],
  "1.2.7": ["Does not apply: no XPath.", { packages: "xpath|xmldom|libxml" }],
  "1.2.8": ["Does not apply: no LaTeX.", { packages: "tex" }],
  "1.2.9": ["Does not apply: no regular expression is made from input.", { code: String.raw`new RegExp\((?!\`)` }],
  "1.3.1": [
    "Does not apply: nobody can type HTML.",
    { packages: "sanitize|purify|markdown|marked|tiptap|quill", code: "dangerouslySetInnerHTML" },
  ],
  "1.3.2": ["Does not apply: no code is made from data.", { code: String.raw`\beval\(|new Function\(|node:vm` }],
  "1.3.4":
    "Only the operator can name an SVG, as `BRAND_LOGO`. It is served with a policy that lets it run and load nothing.",
  "1.3.5": [
    "Does not apply: nobody can type a template, Markdown or a style sheet.",
    { packages: "handlebars|mustache|liquid|ejs|markdown|marked|sass" },
  ],
  "1.3.6":
    "The addresses that are called come from the settings and from the issuer's discovery document, which the operator trusts; the endpoints of an https issuer are https. A user's picture is never fetched.",
  "1.3.7": [
    "Does not apply: every template is a part of the code.",
    { packages: "handlebars|mustache|liquid|ejs|nunjucks" },
  ],
  "1.3.8": ["Does not apply: no JNDI.", { packages: "java|jndi" }],
  "1.3.9": ["Does not apply: no memcache.", { packages: "memcache|memjs" }],
  "1.3.10": ["Does not apply: no format string is made from input.", { code: String.raw`util\.format|printf` }],
  "1.4": [
    "Does not apply: the code is JavaScript, which manages memory and has no integer overflow.",
    { packages: "ffi|koffi" },
  ],
  "1.5.1": ["Does not apply: no XML is parsed.", { packages: "xml|saml" }],
  "2.1": "Documented: docs/threat-model.md, docs/decisions.md, and the contract tests of each field.",
  "3.3.1":
    "In part: `oauth_…`, `idp_failure`, `last_sign_in` and `tried`, which a script sets to see whether cookies work, are Secure but have no prefix. `oauth_state` was asked for by name.",
  "3.3.3":
    "In part: `oauth_…`, `idp_failure`, `last_sign_in` and `tried`, which a script sets to see whether cookies work, are Secure but have no prefix. `oauth_state` was asked for by name.",
  "3.4.1": noHeader,
  "3.4.3": noHeader,
  "3.4.4": noHeader,
  "3.4.5": noHeader,
  "3.4.6": noHeader,
  "3.5.2": [
    "Does not apply: no function relies on a preflight; a form of another origin is refused by its `Origin`.",
    { code: "Access-Control-Allow" },
  ],
  "3.5.3": "In part: a GET of `/auth/idp` starts a sign-in. It was asked for.",
  "3.5.4": "The operator's: give Latchkey a host name of its own. SECURITY.md says what sharing one means.",
  "3.5.5": [
    "Does not apply: no page listens to postMessage.",
    { code: String.raw`postMessage|addEventListener\("message"` },
  ],
  "4.1.1": "In part: an SVG has no charset.",
  "4.1.2":
    "The proxy's: `deploy/nginx.conf` and Caddy redirect http to https. Latchkey itself redirects nothing for its scheme.",
  "4.2.1": "Node's HTTP parser and the proxy decide where a message ends. Latchkey parses none.",
  "4.3": ["Does not apply: no GraphQL.", { packages: "graphql" }],
  "4.4": ["Does not apply: no WebSocket.", { packages: "^ws$|websocket|socket\\.io", code: "WebSocket" }],
  "5": [
    "Does not apply: no file is uploaded. A form with a file counts as a form without that field.",
    { packages: "multer|busboy|formidable", code: 'type="file"|parseMultipart' },
  ],
  "6.1.1": "Documented: SECURITY.md, docs/threat-model.md and docs/decisions.md.",
  "6.1.2": "Documented: docs/branding.md. Besides, the address and its local part are refused.",
  "6.1.3":
    "Documented here: password, passkey, provider, and the link of a registration start the same kind of session.",
  "6.2.1": "In part: 8 characters are enough; the 15 that are recommended are not required.",
  "6.2.8": "In part: a password is normalised with NFKC. An imported bcrypt hash is of its first 72 bytes.",
  "6.2.10": "Met by design: no password expires.",
  "6.2.12":
    "With `BREACHED_PASSWORDS=on`; off by default, because it calls out. The 10,000 most common are refused always.",
  "6.3.3":
    "In part: a passkey is phishing-resistant and verifies the person at each sign-in, but an account may go on with a password alone.",
  "6.3.4": "In part: an external sign-in counts toward no limit here; the provider limits attempts.",
  "6.4.2": ["Does not apply: there are no hints and no secret questions.", { code: "secret.?question|password.?hint" }],
  "6.4.4": "A lost passkey needs no recovery: a password, the provider or the mailbox leads into the account.",
  "6.5.2": ["Does not apply: a token has 256 random bits.", { code: "backup.?code|recovery.?code" }],
  "6.5.3": "`node:crypto` makes them.",
  "6.5.5": "Not met: a mailed link works for 60 minutes, not 10. The lifetime was asked for; mail can be slow.",
  "6.6.1": ["Does not apply: no telephone.", { packages: "twilio|vonage|sms" }],
  "6.6.2": "Not met: a link works in any browser, because mail may be read on another device.",
  "6.6.3": "Met by length: a token has 256 random bits; a wrong one costs one query and no hash.",
  "6.8.2": [
    "Does not apply: no assertion is used. The profile is fetched from the provider over TLS, unless `IDP_ISSUER` itself is http.",
    { packages: "saml", code: String.raw`\bid_token\b` },
  ],
  "6.8.3": ["Does not apply: no SAML.", { packages: "saml" }],
  "6.8.4": [
    "Not met: without an ID token, the provider does not say when and how it authenticated the user.",
    { code: String.raw`\bid_token\b` },
  ],
  "7.1.1": "Documented: SECURITY.md, promise 4.",
  "7.1.2": "Documented here: a user has at most 50 sessions; one more ends the one that was used least recently.",
  "7.1.3":
    "Documented: SECURITY.md. Besides, a logout at the provider ends the sessions here (`oidc`), one here goes on there with `IDP_LOGOUT`; otherwise both are independent.",
  "7.5.1":
    "In part: the current password, or a sign-in of the last 15 minutes. A sign-in through the provider counts as one, although the provider may have asked for nothing.",
  "7.5.2": "In part: ending a session asks for no new sign-in.",
  "7.6.1":
    "Documented here: a page behind the door may ask for a recent sign-in (`max_age`), for which the provider is asked to authenticate anew; a logout at the provider ends the sessions here (`oidc`), one here goes on there with `IDP_LOGOUT`; otherwise both are independent.",
  "7.6.2":
    "Not met: any link to `/auth/idp` starts a sign-in, which a provider may complete without a click. The GET was asked for.",
  "8.1":
    "Documented here: a user reads and changes the own account and nothing else. An operator gives groups; the proxy asks `/auth/verify` for one, and applications read them (docs/applications.md).",
  "8.4": ["Does not apply: there are no tenants.", { settings: "TENANT" }],
  "9.1.3":
    "In part: the proof with which a browser binds its session is verified by the key in its own header, because it is the key that is registered. Every later proof is verified by the stored key.",
  "10.1.2":
    "In part: over http, which is for development, the cookie `oauth_state` alone binds an attempt to its browser. On https, `__Host-oauth` proves it.",
  "10.2.1": "PKCE is off unless `IDP_PKCE=true`.",
  "10.3": ["Does not apply: Latchkey is a client, not a resource server.", { code: "introspect" }],
  "10.4": [
    "Does not apply: Latchkey is a client, not an authorization server.",
    { routes: "authorize|(?<!account\\.)token" },
  ],
  "10.5.1": ["Does not apply: no ID token is used.", { code: String.raw`\bid_token\b` }],
  "10.5.2": [
    "There is no ID token: the id is the profile's, stored with its issuer.",
    { code: String.raw`\bid_token\b` },
  ],
  "10.5.4": ["Does not apply: no ID token is used.", { code: String.raw`\bid_token\b` }],
  "10.5.5":
    "In part: a logout token may have no type, because providers send such ones. Another type than `logout+jwt` or `JWT` is refused, and so is a token without the event or with a `nonce`.",
  "10.6": ["Does not apply: Latchkey is a client, not a provider.", { routes: "authorize|(?<!account\\.)token" }],
  "10.7": ["Does not apply: the provider asks for consent.", { routes: "consent" }],
  "11.1.1":
    "Documented in docs/commands.md: the life of the signing keys and of `IDENTITY_KEY`. There is one `WEBHOOK_SECRET` and one `MAIL_EVENTS_SECRET` at a time: each is changed here and in the application or the mail service together. The public key of a bound session, and of a passkey, goes with its row. Other secrets are made by the services that take them.",
  "11.1.2": [
    "Documented here: SHA-256 (tokens, PKCE), SHA-1 (the first five digits of a new password's hash, for the range service), HMAC-SHA-256 (webhooks, mail events, attempts at the provider), Argon2id (19 MiB, t=2, p=1), bcrypt, scrypt and PBKDF2 (imported hashes); ES256 and A256GCM (identity tokens and their keys), ES256 and RS256 of 2,048 to 4,096 bits (passkeys, with EdDSA for older ones; bound sessions), the asymmetric algorithms of a logout token; 256 random bits. TLS is Node's and the proxy's.",
    { code: String.raw`createHash\("(?!sha256"|sha1")|createHmac\("(?!sha256")|createCipheriv|createSign\(` },
  ],
  "11.2.1": [
    "Met by choice: oslo, @node-rs/argon2, @node-rs/bcrypt, jose, standardwebhooks, @simplewebauthn/server and node:crypto compute everything (docs/dependencies.md).",
    { packages: "crypto-js|bcryptjs|sodium|tweetnacl|noble|hash-wasm|jsonwebtoken|forge" },
  ],
  "11.2.3": "Met by choice: SHA-256 and 256 random bits.",
  "11.4.2": "In part: an imported hash may be weaker, until its owner's first login replaces it.",
  "11.4.3": "Met by choice: ES256 signs a SHA-256. `@simplewebauthn/server` verifies a passkey's signature.",
  "11.4.4": ["Does not apply: no key is derived from a password.", { code: "hkdf" }],
  "11.5.1": "`node:crypto` makes them: 256 bits for a token, 128 for a nonce.",
  "12.1.1": "The proxy's for visitors (`deploy/nginx.conf`, Caddy). Outgoing calls use Node's: TLS 1.2 and 1.3.",
  "12.1.2": "The proxy's for visitors. Outgoing calls use Node's.",
  "12.1.3": ["Does not apply: no client certificate.", { settings: "CLIENT_CERT", code: "requestCert" }],
  "12.2": "The proxy's: it ends TLS. SECURITY.md says that Latchkey is served over https.",
  "12.3.1":
    "In part: the proxy's for visitors. Not encrypted are a PostgreSQL without `sslmode=verify-full`, a mail service or a webhook on a loopback address, the metrics and the forward authentication of the proxy, and a provider whose `IDP_ISSUER` itself is http.",
  "12.3.3": "The operator's: Latchkey and the proxy are on one machine, or on a network that is theirs.",
  "12.3.4": "The operator's: `NODE_EXTRA_CA_CERTS` and `sslrootcert` name an authority of one's own.",
  "13.1":
    "Documented here: the database, the mail service, the provider (the endpoints and keys that its discovery names), the application at `WEBHOOK_URL` and, with `BREACHED_PASSWORDS=on`, the range service are called, and nothing else; `doctor` also calls `APP_URL` and, with `SESSION_DOMAIN`, the host of the site. No user can name an address that is called.",
  "13.2.1": [
    "In part: `DATABASE_URL` takes a client certificate (`sslcert`, `sslkey`). The mail service gets a static key. The provider gets a static secret: the fields of its token request were asked for, so there is no `private_key_jwt`.",
    { code: "private_key_jwt" },
  ],
  "13.2.2": "Not met: the database account may change the schema, because migrations run at start.",
  "13.2.5": "The operator's: a firewall may limit outgoing calls to the services of 13.1.1.",
  "13.3": "The operator's: secrets come from the environment or from files, which a vault can write.",
  "13.4.1": "The operator's: docs/operation.md installs without `.git`, and only `public/` is served.",
  "13.4.5": "`/healthz` and `/readyz` are public on purpose.",
  "14.1": "Documented: SECURITY.md, What is kept of a person, with a class and the protection of each.",
  "14.2.1":
    "Not met: a mailed link has its token and an address in the query, the only place that it can have. It works once, for an hour. `/forgot-password?email=…` has the address that was typed at `/login`. Neither is logged.",
  "14.2.3": "In part: the browser loads a user's picture from its host, without a referrer.",
  "14.2.4": "Documented: SECURITY.md, What is kept of a person.",
  "14.3.1":
    "Not met: after a logout, a page that is open in another tab still shows the account until its next request.",
  "14.3.3": "Shown by the code: besides cookies, a browser stores scroll positions and the version of the build.",
  "15.1.1": "Documented: docs/dependencies.md, Known advisories: 7 or 30 days after a fix exists.",
  "15.1.2": "`package-lock.json` is the inventory; docs/operation.md prints what of it is installed.",
  "15.1.3": "Documented: docs/decisions.md, on password hashing.",
  "15.2.1":
    "In part: Remix 2 has no updates any more. docs/dependencies.md has the time frames, and each known advisory of a dependency, those of development too, with its reach; `npm run advisories` compares it with the lock file and with npm's audit.",
  "15.2.2": "In part: somebody with several networks can fill the 64 places for waiting hashes; one client cannot.",
  "16.1.1": "Documented: docs/monitoring.md. Where logs go is the operator's decision.",
  "16.2.1":
    "In part: an event names no client, and a failed login no account. The access line has neither time nor request.",
  "16.2.2": "The operator's: the machine's clock. Events are in UTC; `latchkey doctor` compares it to the database's.",
  "16.2.3": "Met by design: standard output is the only destination.",
  "16.2.4": "Not met for the access line, which is the text of `remix-serve`. Events are JSON.",
  "16.2.5": "In part: the mail driver `log`, which is for development, prints mails with their links.",
  "16.3.2": [
    "Not met: a form from another site, another user's session id, and a user whom `/auth/verify?group=` refuses are no events. They change nothing.",
    { events: "cross|forged|csrf|no_access|group_refused" },
  ],
  "16.3.3": "In part: a malformed field and a form from another site are no events. The access line has the status.",
  "16.4.2": "The operator's: logs go to standard output.",
  "16.4.3": "The operator's: logs go to standard output.",
  "17": ["Does not apply: no WebRTC.", { packages: "webrtc|mediasoup|turn" }],
};
