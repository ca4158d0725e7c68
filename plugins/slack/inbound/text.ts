/** Slack's markup as an agent reads it. */
const ENTITIES: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };

/** What a token in angle brackets says. Mentions stay as they are: an agent can write them back. */
function tokenText(whole: string, inner: string): string {
  const [head = "", label] = inner.split("|", 2);
  if (head.startsWith("@")) return `<${head}>`;
  if (head.startsWith("#")) return label ? `#${label} (<${head}>)` : `<${head}>`;
  if (head.startsWith("!")) return label ? `@${label.replace(/^@/, "")}` : `@${head.slice(1).split("^")[0]}`;
  if (!/^(?:https?|mailto|tel|slack|ftp):/i.test(head)) return whole;
  const address = head.replace(/^(?:mailto|tel):/i, "");
  return label === undefined || label === head || label === address ? address : `${label} (${head})`;
}

export interface ReadText {
  readonly text: string;
  readonly mentioned: boolean;
  /** Someone else was named. */
  readonly others: boolean;
}

export function readText(raw: string, selfId: string): ReadText {
  const named = [...raw.matchAll(/<@([A-Z0-9]+)(?:\|[^>]*)?>/g)].map(([, id]) => id);
  const text = raw.replaceAll(/<([^<>\n]{1,3000})>/g, tokenText).replaceAll(/&(?:lt|gt|amp);/g, (entity) => ENTITIES[entity]!);
  return { text, mentioned: named.includes(selfId), others: named.some((id) => id !== selfId) };
}
