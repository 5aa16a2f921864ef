/** The kinds of the release before, whose processes may run beside this one. The next release drops this index. */
const earlierKind = `coalesce(substring(password_hash from '^[$]argon2id[$]v=[0-9]+[$]m=[0-9]+,t=[0-9]+,p=[0-9]+'), '$2b' || substring(password_hash from '^[$]2[aby]([$][0-9]{2})[$]'))`;

/** Says the same as `kindOf` in server/accounts/passwords/stored-hashes.ts. */
const kind = `(coalesce(
  substring(password_hash from '^[$]argon2id[$]v=[0-9]+[$]m=[0-9]+,t=[0-9]+,p=[0-9]+'),
  '$2b' || substring(password_hash from '^[$]2[aby]([$][0-9]{2})[$]'),
  '$pbkdf2-sha' || substring(password_hash from '^[$]{0,1}pbkdf2[_-]sha(256|512)[$]') || '$i=' ||
    lpad(substring(password_hash from '^[$]{0,1}pbkdf2[_-]sha[0-9]{3}[$i=]+([0-9]+)'), 7, '0'),
  substring(password_hash from '^[$]scrypt[$]ln=[0-9]+,r=[0-9]+,p=[0-9]+'),
  '$scrypt$ln=14,r=16,p=1' || substring(password_hash from '^[0-9a-f]{32}():')) collate "C")`;

export const passwordKindIndexes = Object.entries({
  users_password_kind_index: earlierKind,
  users_password_kinds_index: kind,
}).map(([name, expression]) => ({ name, expression: `create index "${name}" on "users" ((${expression}))` }));

/**
 * The name `kinds` for a `with recursive`: each kind that is stored, with one look into the index for each. Of PBKDF2
 * with one digest, which is one kind, the one with the most iterations.
 */
export const passwordKinds = `kinds (kind) as (
  (select ${kind} from users where ${kind} is not null order by ${kind} desc limit 1)
  union all
  select (select ${kind} from users where ${kind} < split_part(kinds.kind, 'i=', 1) order by ${kind} desc limit 1)
  from kinds where kinds.kind is not null)`;
