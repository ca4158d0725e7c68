/** Who an agent is, as its `IDENTITY.md` says. */
export interface WrittenIdentity {
  readonly name?: string;
  readonly theme?: string;
  readonly emoji?: string;
  readonly avatar?: string;
}

const LABELS = ["name", "theme", "creature", "vibe", "emoji", "avatar"] as const;
type Label = (typeof LABELS)[number];

/** A value that nobody has filled in: empty, or a hint in brackets. */
const isHint = (value: string): boolean => value === "" || /^\(.*\)$/s.test(value) || /^_.*_$/s.test(value);

/** Reads lines such as `- **Name:** Ada`. Of a theme, a creature and a vibe the first that is there is the theme. */
export function parseIdentity(text: string): WrittenIdentity {
  const found = new Map<Label, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, word = "", rest = ""] = /^\s*(?:[-*+]\s+)?[*_]{0,2}([A-Za-z]+)[*_]{0,2}\s*:\s*[*_]{0,2}(.*)$/.exec(line) ?? [];
    const label = LABELS.find((known) => known === word.toLowerCase());
    const value = rest.trim();
    if (label && !found.has(label) && !isHint(value)) found.set(label, value);
  }
  const theme = found.get("theme") ?? found.get("creature") ?? found.get("vibe");
  const { name, emoji, avatar } = Object.fromEntries(found) as Partial<Record<Label, string>>;
  return { ...(name ? { name } : {}), ...(theme ? { theme } : {}), ...(emoji ? { emoji } : {}), ...(avatar ? { avatar } : {}) };
}
