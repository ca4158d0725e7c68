/** Receiving and sending of an account, separately: one can fail while the other works. */
import type { ChannelAccountSnapshot, ChannelDirection } from "../../protocol/index.ts";
import type { Judgement } from "./health.ts";

/** The last send attempt failed, in a way that concerns the account and not one message. */
export interface SendTrouble {
  readonly why: string;
  readonly at: number;
}

export interface DirectionFacts {
  readonly snapshot: ChannelAccountSnapshot;
  /** Undefined: it is not meant to run. */
  readonly health: Judgement | undefined;
  readonly held: boolean;
  /** It sends without the receiving connection. */
  readonly independent: boolean;
  readonly trouble: SendTrouble | undefined;
}

const HELD: ChannelDirection = { state: "stopped", text: "stopped by hand", fix: "openclaw channels start" };

/** The channel's own report comes first; else the state of the connection. */
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

/** The result of the last attempt. Over a connection shared with receiving nothing is attempted while it is down. */
export function sendingOf({ snapshot, health, held, independent, trouble }: DirectionFacts): ChannelDirection | undefined {
  if (held) return { ...HELD, text: "stopped by hand: what is to be sent waits" };
  if (!health) return undefined;
  if (trouble) return { state: "error", text: trouble.why, since: trouble.at };
  if (independent || health.state === "down" || snapshot.connected !== false) return { state: "ok" };
  return { state: "waiting", text: "waits for the connection" };
}
