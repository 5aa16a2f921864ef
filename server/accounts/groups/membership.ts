import { config } from "../../config";
import type { User } from "../../database/entities";
import { configuredIssuer, isLinked, linkedTo } from "../provider/provider-identities";
import { maxGroups, sortedGroups } from "./names";

type Member = Partial<Pick<User, "groups" | "idpGroups" | "idpId" | "idpIssuer">>;

/** The user's groups, the operator's and the provider's: the first of them, because proxies limit a header's length. */
export const groupsOf = (user: Member): string[] =>
  sortedGroups([...(user.groups ?? []), ...providerGroupsOf(user)]).slice(0, maxGroups);

/** The groups that the provider gives to the user. */
export function providerGroupsOf({ idpGroups = [], idpId = null, idpIssuer = null }: Member): string[] {
  return isLinked({ idpId, idpIssuer }, issuerOfGroups()) ? idpGroups : [];
}

/** MikroORM's condition for accounts of a group. */
export function ofGroup(name: string) {
  const operators = { groups: { $contains: [name] } };
  if (issuerOfGroups() === null) return operators;
  return { $or: [operators, { idpGroups: { $contains: [name] }, ...linkedForGroups() }] };
}

/** MikroORM's condition for accounts with an id of the issuer whose groups count. */
export const linkedForGroups = () => linkedTo(issuerOfGroups());

/** The issuer whose groups count; `null` without `IDP_GROUPS_CLAIM`. */
const issuerOfGroups = () => (config().identityProvider?.groupsClaim ? configuredIssuer() : null);
