import * as z from "zod";
import { callJson } from "../../calls/json-client";
import type { Config } from "../../config";
import { CallError } from "../../errors";
import { siteOf } from "../../settings/session-domain";
import { type Check, causeOf, checksOf } from "./check";

const { ok, warn } = checksOf("binding");
const shape = z.object({ registering_origins: z.array(z.string()) });

/** Whether browsers may bind sessions: for a whole site, they ask the site's own host. */
export async function checkBinding({ deviceBoundSessions, sessionDomain, appUrl }: Config): Promise<Check[]> {
  if (!deviceBoundSessions) return [];
  const site = sessionDomain === null ? appUrl : siteOf(appUrl);
  if (site === appUrl) return [ok(`sessions of ${appUrl}, in browsers that can bind them to their device`)];
  const url = `${site}/.well-known/device-bound-sessions`;
  const mend = `serve {"registering_origins": ["${appUrl}"]} there, or pass that path on to this service`;
  try {
    const { registering_origins: origins } = await callJson(url, { method: "GET" }, shape);
    if (origins.includes(appUrl)) return [ok(`sessions of the site ${site}, in browsers that can bind them`)];
    return [warn(`no session is bound: ${url} does not name ${appUrl}`, mend)];
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return [warn(`no session is bound: ${url} has no list of origins (${causeOf(error)})`, mend)];
  }
}
