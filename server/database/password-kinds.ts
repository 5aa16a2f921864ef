/** E.g. `$argon2id$v=19$m=19456,t=2,p=1` or `$2b$10`; bcrypt's other letters take the same time and are one kind. */
const kind = `coalesce(substring(password_hash from '^[$]argon2id[$]v=[0-9]+[$]m=[0-9]+,t=[0-9]+,p=[0-9]+'), '$2b' || substring(password_hash from '^[$]2[aby]([$][0-9]{2})[$]'))`;

const name = "users_password_kind_index";

export const passwordKindIndex = { name, expression: `create index "${name}" on "users" ((${kind}))` };

/** The name `kinds` for a `with recursive`: each kind that is stored, with one look into the index for each. */
export const passwordKinds = `kinds (kind) as (
  (select ${kind} from users where ${kind} is not null order by ${kind} limit 1)
  union all
  select (select ${kind} from users where ${kind} > kinds.kind order by ${kind} limit 1)
  from kinds where kinds.kind is not null)`;
