/** What stands in a hash: the group of a pattern, or its match. JavaScript and PostgreSQL read these patterns alike. */
interface Matched {
  pattern: string;
  /** In digits. */
  width?: number;
}

/** A kind is the text of the first of these whose patterns all match. */
const kindForms: (string | Matched)[][] = [
  [{ pattern: "^[$]argon2id[$]v=[0-9]+[$]m=[0-9]+,t=[0-9]+,p=[0-9]+" }],
  ["$2b", { pattern: "^[$]2[aby]([$][0-9]{2})[$]" }],
  [
    "$pbkdf2-sha",
    { pattern: "^[$]{0,1}pbkdf2[_-]sha(256|512)[$]" },
    "$i=",
    { pattern: "^[$]{0,1}pbkdf2[_-]sha[0-9]{3}[$i=]+([0-9]+)", width: 7 },
  ],
  [{ pattern: "^[$]scrypt[$]ln=[0-9]+,r=[0-9]+,p=[0-9]+" }],
  ["$scrypt$ln=14,r=16,p=1", { pattern: "^[0-9a-f]{32}():" }], // Better Auth
];

/** The algorithm and the parameters of a hash. */
export function kindOf(hash: string): string | undefined {
  for (const form of kindForms) {
    const parts = form.map((part) => {
      if (typeof part === "string") return part;
      const match = hash.match(part.pattern);
      return match && (match[1] ?? match[0]).padStart(part.width ?? 0, "0");
    });
    if (!parts.includes(null)) return parts.join("");
  }
  return undefined;
}

const inSql = (forms: typeof kindForms) =>
  forms.map((form) => {
    const parts = form.map((part) => {
      if (typeof part === "string") return `'${part}'`;
      const matched = `substring(password_hash from '${part.pattern}')`;
      return part.width ? `lpad(${matched}, ${part.width}, '0')` : matched;
    });
    return parts.join(" || ");
  });

/** The kinds of the release before, whose processes may run beside this one. The next release drops this index. */
const earlierKind = `coalesce(${inSql(kindForms.slice(0, 2))})`;

const kind = `(coalesce(${inSql(kindForms)}) collate "C")`;

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
