import type { ReplyPayload } from "../../protocol/index.ts";
import type { CommandCall, CommandVerdict } from "./commands.ts";
import type { CommandPorts } from "./ports.ts";

/** One command that is carried out. */
export interface Handling {
  readonly call: CommandCall;
  readonly ports: CommandPorts;
  /** The session that is meant; of menus it is not the one they are used in. */
  readonly key: string;
  /** The canonical name. */
  readonly name: string;
  /** What follows the name. */
  readonly args: string;
}

/** A text, a payload, or everything that becomes of the message. */
export type Answer = string | ReplyPayload | CommandVerdict;

export type Handler = (handling: Handling) => Promise<Answer> | Answer;

export function answered(reply: string | ReplyPayload, why: string): CommandVerdict {
  return { kind: "answered", reply: [typeof reply === "string" ? { text: reply } : reply], outcome: "answered", why };
}

/** Nothing is sent. */
export function silent(outcome: "silent" | "refused" | "cancelled", why: string): CommandVerdict {
  return { kind: "answered", reply: [], outcome, why };
}

export const notThere = (name: string, what: string): string => `/${name} is not available: ${what}.`;

/** Words that were typed, without empty ones. At most so many: the rest is of no use to a command. */
export function wordsOf(text: string, most = 64): readonly string[] {
  return text
    .slice(0, 8192)
    .split(/\s+/)
    .filter((word) => word !== "")
    .slice(0, most);
}

export const switchedOff = (name: string, key = name): string => `/${name} is switched off. Set commands.${key} to true to use it.`;

/** `1234` → `1.2k`. */
export const count = (tokens: number): string =>
  tokens < 1000 ? `${tokens}` : tokens < 1_000_000 ? `${(tokens / 1000).toFixed(tokens < 10_000 ? 1 : 0)}k` : `${(tokens / 1_000_000).toFixed(1)}m`;
