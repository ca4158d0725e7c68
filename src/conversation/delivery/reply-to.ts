import type { ChannelPlugin, HostConfig, ReplyPayload, ReplyToMode } from "../../protocol/index.ts";
import type { ReplyAddress } from "../address.ts";
import type { OutgoingFacts } from "./delivery.ts";

/** Which rows of a payload name the message that they answer. */
export interface ReplyReference {
  readonly id?: string;
  readonly rows: "none" | "first" | "all";
}

const NONE: ReplyReference = { rows: "none" };

/** Turns that have answered their message once, for `replyToMode: first`. Bounded. */
export class AnsweredTurns {
  private readonly keys = new Set<string>();
  private static readonly MAX = 2000;

  has(key: string): boolean {
    return this.keys.has(key);
  }

  add(key: string): void {
    this.keys.add(key);
    if (this.keys.size <= AnsweredTurns.MAX) return;
    const [oldest] = this.keys;
    this.keys.delete(oldest!);
  }
}

/** What the channel says; one that has nothing to say, or fails to, answers every time. */
export function replyModeOf(
  plugin: ChannelPlugin | undefined,
  cfg: HostConfig,
  { accountId, chatType }: Pick<ReplyAddress, "accountId" | "chatType">,
): ReplyToMode {
  try {
    return plugin?.threading?.resolveReplyToMode?.({ cfg, accountId, chatType }) ?? "all";
  } catch {
    return "all";
  }
}

/** Off, the first message of a turn, or all of them; a tag of the model says more than the mode, where the channel allows that. */
export function replyReference(
  payload: ReplyPayload,
  address: ReplyAddress,
  facts: OutgoingFacts,
  { plugin, cfg, answered }: { readonly plugin: ChannelPlugin | undefined; readonly cfg: HostConfig; readonly answered: AnsweredTurns },
): ReplyReference {
  const tagged = payload.replyToTag === true || payload.replyToCurrent === true;
  const id = payload.replyToId ?? address.replyToId;
  if (id === undefined || id === "") return NONE;
  // Whoever asked for it named the message.
  if (facts.kind === "send") return { id, rows: "first" };
  const threading = plugin?.threading;
  const mode = replyModeOf(plugin, cfg, address);
  if (mode === "off") {
    const allowed = threading?.allowExplicitReplyTagsWhenOff ?? threading?.allowTagsWhenOff ?? true;
    return tagged && allowed ? { id, rows: "all" } : NONE;
  }
  if (mode === "all" || tagged) return { id, rows: "all" };
  const key = `${facts.runId ?? id}\n${address.channel}\n${address.accountId}\n${address.to}`;
  if (answered.has(key)) return NONE;
  answered.add(key);
  return { id, rows: "first" };
}
