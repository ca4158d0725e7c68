/** The fields of a session that can name it. */
export interface Nameable {
  readonly key: string;
  /** Set by its owner. */
  readonly label?: string | undefined;
  /** The name of its chat. */
  readonly displayName?: string | undefined;
  readonly subject?: string | undefined;
  /** Derived from its first message. */
  readonly title?: string | undefined;
}

const AGENT_ID = /^[a-z0-9][a-z0-9._-]{0,127}$/;

/** Whether session keys can name an agent with this id, in lower case. It is also the name of a folder in the state folder. */
export const isAgentId = (id: string): boolean => AGENT_ID.test(id);

const AGENT = /^agent:[^:]+:/;
/** Structural parts of a key. */
const BUILT = new Set(["direct", "dm", "channel", "group", "thread", "topic"]);
/** An unreadable id: its beginning is enough to distinguish sessions. */
const LONG_ID = /^[0-9a-f-]{20,}$/i;

const filled = (text: string | undefined): string | undefined => text?.trim() || undefined;

/** The part after `agent:<id>:`. */
const restOf = (key: string): string => key.replace(AGENT, "");

/** True for the session that messages go to by default. */
export const isMainKey = (key: string): boolean => key === "global" || restOf(key) === "main";

/** What starts a session that nobody writes in: the first part of its key after the agent. */
export const AUTOMATION = ["cron", "hook", "subagent", "heartbeat"] as const;

/** What a session belongs to that was not started by a message: a job, a webhook, a sub-agent or heartbeats. Undefined for chats. */
export function automationOf(key: string): (typeof AUTOMATION)[number] | undefined {
  const [first] = restOf(key).split(":");
  return AUTOMATION.find((kind) => kind === first);
}

/** Each agent has a main chat: those of others than `main` say whose it is. */
function mainName(key: string): string {
  const [, agentId = "main"] = key.split(":");
  return agentId === "main" ? "Main chat" : `Main chat (${agentId})`;
}

/** A key in words: `agent:main:telegram:group:-100` → `Telegram group -100`. */
export function readableKey(key: string): string {
  if (isMainKey(key)) return mainName(key);
  const [first = "", ...more] = restOf(key).split(":");
  if (first === "web") return ["Chat", ...more].join(" ");
  if (more.length === 0) return first === "" ? key : first;
  const kind = more.includes("group") ? ["group"] : more.includes("channel") ? ["channel"] : [];
  const ids = more.filter((part) => part !== "" && !BUILT.has(part)).map((part) => (LONG_ID.test(part) ? part.slice(0, 8) : part));
  const place = BUILT.has(first) ? [] : [first];
  const words = [...place, ...(BUILT.has(first) && first !== "direct" && first !== "dm" ? [first] : kind), ...ids].join(" ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** True for a session started in the Control UI. */
const isOwn = (key: string): boolean => restOf(key).startsWith("web:");

/** The display name of a session, the same everywhere: its label, its chat's name, its first message, else its key in words. */
export function sessionName({ key, label, displayName, subject, title }: Nameable): string {
  const main = isMainKey(key) ? mainName(key) : undefined;
  return filled(label) ?? main ?? filled(displayName) ?? filled(subject) ?? filled(title) ?? (isOwn(key) ? "New chat" : readableKey(key));
}
