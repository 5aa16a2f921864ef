import type { EntityManager } from "@mikro-orm/postgresql";
import { config } from "../../config";
import type { User } from "../../database/entities";
import { enqueueWebhooks } from "../../queue/job-queue";
import type { AccountChange, ChangedUser } from "../../queue/jobs";

/** The provider chose the URL, and pages and applications show it: https or nothing. */
export const shownPicture = (url: string | null | undefined): string | null =>
  url?.startsWith("https://") ? url : null;

type Announced = Pick<User, "id" | "email"> & Partial<Pick<User, "name" | "pictureUrl" | "groups">>;

/** Tells the application once `em`'s transaction is committed, which holds each user's row. */
export async function announce(
  em: EntityManager,
  type: AccountChange,
  users: Announced | Announced[],
  more: Pick<ChangedUser, "previousEmail"> = {},
): Promise<void> {
  if (!config().webhook) return;
  const jobs = [users].flat().map(({ id, email, name = null, pictureUrl, groups = [] }) => {
    const data = { id, email, name, pictureUrl: shownPicture(pictureUrl), groups, ...more };
    return { task: "webhook" as const, type, data };
  });
  await enqueueWebhooks(em, jobs);
}
