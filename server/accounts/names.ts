/** The name of a person, trimmed; `null` for text that is empty, too long or has control characters. */
export function parseName(typed: string): string | null {
  const name = typed.trim();
  return /^[^\p{Cc}\p{Cs}]{1,255}$/u.test(name) ? name : null;
}
