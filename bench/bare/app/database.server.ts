import { createHash } from "node:crypto";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

export async function findUser(cookies: string | null): Promise<{ email: string; name: string | null } | undefined> {
  const token = /session=([^;]+)/.exec(cookies ?? "")?.[1] ?? "";
  const { rows } = await pool.query({
    name: "find-session",
    text: `select u.email, u.name from sessions s join users u on u.id = s.user_id
           where s.token_hash = $1 and s.expires_at > now()`,
    values: [createHash("sha256").update(token).digest("hex")],
  });
  return rows[0];
}

export async function addJob(email: string): Promise<void> {
  await pool.query({ name: "add-job", text: "insert into limit_jobs (email) values ($1)", values: [email] });
}
