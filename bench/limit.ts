import { createHash, randomBytes, randomUUID } from "node:crypto";
import http, { type IncomingMessage } from "node:http";
import { Argon2id } from "oslo/password";
import pg from "pg";

// The lower bound of the cost: node:http and pg, prepared statements, the same Argon2id, no framework and no pages. It
// omits Latchkey's limits, queue, pages, cookie rules and logs.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const argon2id = new Argon2id({ memorySize: 19_456, iterations: 2, parallelism: 1 });
const agent = new http.Agent({ keepAlive: true });
const provider = process.env.PROVIDER_URL ?? "";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

const statement = (name: string, text: string) => (values: unknown[]) => pool.query({ name, text, values });

const findUser = statement("find-user", "select id, password_hash from users where email = $1");
const findUserByIdpId = statement("find-user-by-idp-id", "select id from users where idp_id = $1");
const addJob = statement("add-job", "insert into limit_jobs (email) values ($1)");
const takeToken = statement(
  "take-token",
  "delete from password_resets where token_hash = $1 and email = $2 and expires_at > now()",
);
const setPassword = statement("set-password", "update users set password_hash = $2 where email = $1");
const findSession = statement(
  "find-session",
  "select u.email, u.name from sessions s join users u on u.id = s.user_id where s.token_hash = $1 and s.expires_at > now()",
);
const addSession = statement(
  "add-session",
  `insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
   values ($1, $2, $3, now(), now(), now() + interval '30 days')`,
);

async function startSession(userId: string): Promise<string> {
  const token = randomBytes(32).toString("hex");
  await addSession([randomUUID(), sha256(token), userId]);
  return `session=${token}; Path=/; HttpOnly; SameSite=Lax`;
}

async function read(message: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of message) text += chunk;
  return text;
}

const call = (path: string, options: http.RequestOptions, body?: string) =>
  new Promise<Record<string, string>>((resolve, reject) => {
    const request = http.request(`${provider}${path}`, { agent, ...options }, (answer) => {
      read(answer).then((text) => resolve(JSON.parse(text)), reject);
    });
    request.once("error", reject).end(body);
  });

async function answer(
  request: IncomingMessage,
): Promise<{ status: number; headers?: http.OutgoingHttpHeaders; body?: string }> {
  const url = new URL(request.url ?? "/", "http://limit");
  const cookie = (name: string) => new RegExp(`${name}=([^;]+)`).exec(request.headers.cookie ?? "")?.[1] ?? "";
  const form = new URLSearchParams(request.method === "POST" ? await read(request) : "");
  const field = (name: string) => form.get(name) ?? "";
  switch (url.pathname) {
    case "/forgot-password":
      await findUser([field("email")]);
      await addJob([field("email")]);
      return { status: 200, body: '{"status":"sent"}' };
    case "/reset-password": {
      const hash = await argon2id.hash(field("password"));
      const taken = await takeToken([sha256(field("token")), field("email")]);
      if (taken.rowCount !== 1) return { status: 422 };
      await setPassword([field("email"), hash]);
      return { status: 302, headers: { location: "/login" } };
    }
    case "/auth/idp/callback": {
      if (cookie("oauth_state") !== url.searchParams.get("state")) return { status: 400 };
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const body = new URLSearchParams({ code: url.searchParams.get("code") ?? "", grant_type: "authorization_code" });
      const { access_token } = await call("/token", { method: "POST", headers }, body.toString());
      const { sub } = await call("/userinfo", { headers: { authorization: `Bearer ${access_token}` } });
      const { rows } = await findUserByIdpId([sub]);
      return { status: 302, headers: { location: "/dashboard", "set-cookie": await startSession(rows[0].id) } };
    }
    case "/auth/verify":
    case "/dashboard": {
      const { rows } = await findSession([sha256(cookie("session"))]);
      return rows[0]
        ? { status: 200, body: JSON.stringify(rows[0]) }
        : { status: 302, headers: { location: "/login" } };
    }
    case "/login": {
      const { rows } = await findUser([field("email")]);
      if (!(await argon2id.verify(rows[0].password_hash, field("password")))) return { status: 422 };
      return { status: 302, headers: { location: "/dashboard", "set-cookie": await startSession(rows[0].id) } };
    }
    default:
      return { status: 404 };
  }
}

http
  .createServer((request, response) => {
    answer(request).then(
      ({ status, headers, body }) => response.writeHead(status, headers).end(body),
      (error) => response.writeHead(500).end(String(error)),
    );
  })
  .listen(Number(process.env.PORT), () => console.error("limit listens"));
