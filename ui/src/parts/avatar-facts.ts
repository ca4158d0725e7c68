/** What is known of how an agent looks. */
export interface Looks {
  readonly id: string;
  readonly name: string;
  readonly emoji?: string | undefined;
  /** As the configuration names it: a file of the workspace, an address, or the picture itself. */
  readonly avatar?: string | undefined;
}

/** Emoji or letters in place of a picture. */
const isWord = (avatar: string): boolean => /^[^/\\.:]{1,16}$/.test(avatar);

/** Where the picture of an agent is loaded from. Undefined: there is none, or it is another host's, and the page loads nothing from there. */
export function pictureOf({ id, avatar }: Pick<Looks, "id" | "avatar">): string | undefined {
  const text = avatar?.trim() ?? "";
  if (text === "" || isWord(text) || /^https?:/i.test(text)) return undefined;
  if (/^data:/i.test(text)) return /^data:image\//i.test(text) ? text : undefined;
  return `avatar/${encodeURIComponent(id)}`;
}

/** Shown where there is no picture: what the configuration gives instead, the emoji, or the first letters of the name. */
export function signOf({ id, name, emoji, avatar }: Looks): string {
  const text = avatar?.trim() ?? "";
  if (text !== "" && isWord(text)) return text;
  if (emoji?.trim()) return emoji.trim();
  const words = (name.trim() || id).split(/[\s_-]+/);
  // Neither control characters nor those that turn the direction of what follows are letters.
  const letters = words.flatMap((word) => /[^\p{C}\p{Z}]/u.exec(word)?.[0] ?? []);
  return letters.slice(0, 2).join("").toUpperCase();
}
