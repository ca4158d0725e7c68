/** A request with everything the steps need, parsed once. Events come from plugins: nothing about them is trusted. */
import type { ChannelInboundChat, ChannelInboundKind } from "../../protocol/index.ts";
import { idsOf, type EntryContext } from "./allow-entries.ts";
import { layersOf, type Layer } from "./section.ts";
import type { AccessRequest } from "./decision.ts";

export interface Facts extends EntryContext {
  readonly question: AccessRequest;
  readonly layers: readonly Layer[];
  readonly kind: ChannelInboundKind;
  readonly isDirect: boolean;
  readonly chat: Partial<ChannelInboundChat>;
  readonly text: string;
  /** Comparable ids of the sender. */
  readonly ids: readonly string[];
  /** The sender, for people. */
  readonly who: string;
  readonly approved: ReadonlySet<string>;
  /** The event may request pairing: not a reaction or a button. */
  readonly canAsk: boolean;
}

const MAX_SHOWN = 80;

/** Ids are foreign text: bounded, on one line, quoted. */
function shown(id: string): string {
  return JSON.stringify(id.length > MAX_SHOWN ? `${id.slice(0, MAX_SHOWN)}…` : id);
}

export function factsOf(question: AccessRequest): Facts {
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

/** Whether an event of this kind may start a turn at all. */
export const startsTurn = (kind: ChannelInboundKind): boolean => TURN_KINDS.has(kind);
