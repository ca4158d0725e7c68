/** A question with what every step needs of it, read once. Events come from other people's code: nothing of them is taken for granted. */
import type { ChannelInboundChat, ChannelInboundKind } from "../../protocol/index.ts";
import { idsOf, type EntryContext } from "./allow-entries.ts";
import { layersOf, type Layer } from "./section.ts";
import type { AccessQuestion } from "./verdict.ts";

export interface Facts extends EntryContext {
  readonly question: AccessQuestion;
  readonly layers: readonly Layer[];
  readonly kind: ChannelInboundKind;
  readonly isDirect: boolean;
  readonly chat: Partial<ChannelInboundChat>;
  readonly text: string;
  /** Ids of the sender that may be compared. */
  readonly ids: readonly string[];
  /** The sender, for people. */
  readonly who: string;
  readonly approved: ReadonlySet<string>;
  /** What came is a way to ask to be let in: not a reaction, nor a button. */
  readonly canAsk: boolean;
}

const MAX_SHOWN = 80;

/** Ids are other people's words: bounded, on one line, quoted. */
function shown(id: string): string {
  return JSON.stringify(id.length > MAX_SHOWN ? `${id.slice(0, MAX_SHOWN)}…` : id);
}

export function factsOf(question: AccessQuestion): Facts {
  const { cfg, plugin, dock, channel, accountId, event, approved } = question;
  const kind = event?.kind;
  const chat: Partial<ChannelInboundChat> = event?.chat ?? {};
  const ids = idsOf(event?.sender);
  return {
    question,
    cfg,
    plugin,
    dock,
    channel,
    accountId,
    approved,
    layers: layersOf(cfg, channel, accountId),
    kind,
    isDirect: chat.type === "direct",
    chat,
    text: typeof event?.text === "string" ? event.text : "",
    ids,
    who: ids[0] === undefined ? "a sender without an id" : `the sender ${shown(ids[0])}`,
    canAsk: (kind === "message" || kind === "command") && typeof event.sender?.id === "string" && idsOf({ id: event.sender.id }).length > 0,
  };
}

const TURN_KINDS: ReadonlySet<string> = new Set(["message", "command", "button"] satisfies ChannelInboundKind[]);

/** Whether something of this kind may start a turn at all. */
export const startsTurn = (kind: ChannelInboundKind): boolean => TURN_KINDS.has(kind);
