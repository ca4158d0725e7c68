/** Receiving and sending of an account, each for itself: one can fail while the other works. */
import type { ChannelAccountSnapshot, ChannelDirection } from "../../protocol/index.ts";
import type { Judgement } from "./health.ts";

/** The last attempt to send something failed, in a way that concerns the account and not one message. */
export interface SendTrouble {
  readonly why: string;
  readonly at: number;
}

export interface DirectionFacts {
  readonly snapshot: ChannelAccountSnapshot;
  /** Undefined: it is not meant to run. */
  readonly health: Judgement | undefined;
  readonly held: boolean;
  /** It sends without the connection that receives. */
  readonly independent: boolean;
  readonly trouble: SendTrouble | undefined;
}

const HELD: ChannelDirection = { state: "stopped", text: "stopped by hand", fix: "openclaw channels start" };

/** What the channel says of it counts first; else what is known of the connection. */
export function receivingOf({ snapshot, health, held }: DirectionFacts): ChannelDirection | undefined {
  const { receiving, connected, lastError } = snapshot;
  if (held) return HELD;
  if (!health) return undefined;
  if (health.state === "down") return { state: "error", text: health.why };
  if (connected === false && receiving && receiving.state !== "ok") return receiving;
  if (connected === false && lastError) return { state: "error", text: lastError };
  if (connected === false || health.state === "starting") return { state: "starting" };
  return health.state === "degraded" ? { state: "error", text: health.why } : { state: "ok" };
}

/** As the last attempt ended. Over a connection that is shared with receiving nothing is attempted while there is none. */
export function sendingOf({ snapshot, health, held, independent, trouble }: DirectionFacts): ChannelDirection | undefined {
  if (held) return { ...HELD, text: "stopped by hand: what is to be sent waits" };
  if (!health) return undefined;
  if (trouble) return { state: "error", text: trouble.why, since: trouble.at };
  if (independent || health.state === "down" || snapshot.connected !== false) return { state: "ok" };
  return { state: "waiting", text: "waits for the connection" };
}
