import type { Answer } from "./http";
import type { Visitor } from "./visitor";

export async function leave(visitor: Visitor): Promise<URLSearchParams> {
  const { location } = await visitor.get("/auth/idp");
  return new URL(location ?? "").searchParams;
}

export const comeBack = (visitor: Visitor, parameters: Record<string, string>): Promise<Answer> =>
  visitor.get(`/auth/idp/callback?${new URLSearchParams(parameters)}`);

export async function signInExternally(visitor: Visitor): Promise<Answer> {
  const state = (await leave(visitor)).get("state") ?? "";
  return comeBack(visitor, { code: "code", state });
}
