/** What is known of a session that can name it. */
export interface Nameable {
  readonly key: string;
  /** Given by its owner. */
  readonly label?: string | undefined;
  /** What its chat is called. */
  readonly displayName?: string | undefined;
  readonly subject?: string | undefined;
  /** How it began. */
  readonly title?: string | undefined;
}

const AGENT = /^agent:[^:]+:/;
/** Parts of a key that only say how it is built. */
const BUILT = new Set(["direct", "dm", "channel", "group", "thread", "topic"]);
/** An id that nobody reads: its beginning tells sessions apart. */
const LONG_ID = /^[0-9a-f-]{20,}$/i;

const filled = (text: string | undefined): string | undefined => text?.trim() || undefined;

/** What stands behind `agent:<id>:`. */
const restOf = (key: string): string => key.replace(AGENT, "");

/** True for the session that everything goes to unless it is told otherwise. */
export const isMainKey = (key: string): boolean => key === "global" || restOf(key) === "main";

/** A key as people would say it: `agent:main:telegram:group:-100` → `Telegram group -100`. */
export function readableKey(key: string): string {
  if (isMainKey(key)) return "Main chat";
  const [first = "", ...more] = restOf(key).split(":");
  if (first === "web") return ["Chat", ...more].join(" ");
  if (more.length === 0) return first === "" ? key : first;
  const kind = more.includes("group") ? ["group"] : more.includes("channel") ? ["channel"] : [];
  const ids = more.filter((part) => part !== "" && !BUILT.has(part)).map((part) => (LONG_ID.test(part) ? part.slice(0, 8) : part));
  const place = BUILT.has(first) ? [] : [first];
  const words = [...place, ...(BUILT.has(first) && first !== "direct" && first !== "dm" ? [first] : kind), ...ids].join(" ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** True for one that was begun in the Control UI. */
const isOwn = (key: string): boolean => restOf(key).startsWith("web:");

/** The name of a session for people, the same everywhere: its label, what its chat is called, how it began, else its key in words. */
export function sessionName({ key, label, displayName, subject, title }: Nameable): string {
  const main = isMainKey(key) ? "Main chat" : undefined;
  return filled(label) ?? main ?? filled(displayName) ?? filled(subject) ?? filled(title) ?? (isOwn(key) ? "New chat" : readableKey(key));
}
