import { messageOf } from "../../base/errors.ts";
import type { HookLogEntry } from "../../hooks/index.ts";
import type { ThinkingLevel } from "../../protocol/index.ts";
import type { TurnHints } from "../commands/commands.ts";
import type { ConversationDeps } from "../ports.ts";

/**
 * What commands and plugins made of messages before they went to a lane, as the inbox keeps it in their payload. A process that finds it asks neither
 * again.
 */
export interface Decided {
  /** The last message of those that were taken together. Only its own record has the rest. */
  readonly last: number;
  /** The text for the model; undefined where it is the message's own. */
  readonly text?: string;
  readonly thinking?: ThinkingLevel;
  readonly hints?: TurnHints;
  /** What plugins answered, for `why`. */
  readonly hooks?: readonly HookLogEntry[];
  /** A reaction was set that goes when the answer is there. */
  readonly ack?: true;
}

const BEFORE_TURNS = ["message_received", "inbound_claim", "before_dispatch"] as const;

type DecideDeps = Pick<ConversationDeps, "store" | "hooks" | "internalHooks" | "log">;

/**
 * Persists it, where something would happen twice otherwise. Not waited for: writes are committed in order, so it is on disk before the turn is.
 */
export function persistDecided({ store, hooks, internalHooks, log }: DecideDeps, ids: readonly number[], decided: Omit<Decided, "last">): void {
  const isAsked = BEFORE_TURNS.some((name) => hooks.has(name)) || internalHooks?.()?.has("message", "received") === true;
  if (!isAsked && decided.ack === undefined) return;
  const last = ids.at(-1)!;
  const all = ids.map((id) => ({ id, decided: id === last ? { last, ...decided } : { last } }));
  store.write("inbox.decide", { inputs: all }).catch((error: unknown) => log.warn(`what plugins decided could not be stored: ${messageOf(error)}`, { last }));
}
