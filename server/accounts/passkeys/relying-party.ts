import { type EntityManager, raw } from "@mikro-orm/postgresql";
import { config } from "../../config";
import { Passkey } from "../../database/entities";

/** WebAuthn, section 4, "RP ID". @throws Error while passkeys are off */
export function rpId(): string {
  const { relyingPartyId: id } = config();
  if (id === null) throw new Error("Passkeys are off.");
  return id;
}

/** Whether browsers offer the passkey here: it was made for this RP ID. */
export const isUsable = ({ rpId }: Pick<Passkey, "rpId">): boolean =>
  (rpId ?? formerRpId()) === config().relyingPartyId;

/** `isUsable` as MikroORM's condition. */
export const usable = () => ({ [raw(usableSql.text, usableSql.values())]: [] });

/** `isUsable` as SQL, and its values. */
export const usableSql = { text: "coalesce(rp_id, ?) = ?", values: () => [formerRpId(), config().relyingPartyId] };

/** Stores the RP ID of passkeys without one, so that they keep it when `APP_URL` or `PASSKEY_RP_ID` changes. */
export async function fillMissingRpIds(em: EntityManager): Promise<void> {
  await em.nativeUpdate(Passkey, { rpId: null }, { rpId: formerRpId() });
}

/** A passkey without an RP ID was made by an old release, for the host of `APP_URL`. */
const formerRpId = () => new URL(config().appUrl).hostname;
