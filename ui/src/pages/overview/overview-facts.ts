import type { MethodResult } from "openclaw/client";

export type Overview = MethodResult<"overview">;
export type ChannelsStatus = MethodResult<"channels.status">;

/** Whether it is healthy, in one sentence. */
export interface Summary {
  readonly level: "good" | "warn" | "bad";
  readonly text: string;
  readonly more: string;
}

/** One account of a channel. */
export interface ChannelLine {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly level: "good" | "warn" | "bad" | "";
  readonly error?: string;
  /** When something last came or went. */
  readonly lastAt?: number;
}

type Account = ChannelsStatus["channelAccounts"][string][number];

function stateOf({ enabled, configured, running, connected, lastError, stoppedByHand }: Account): Pick<ChannelLine, "state" | "level"> {
  if (enabled === false) return { state: "off", level: "" };
  if (configured === false) return { state: "not set up", level: "" };
  if (stoppedByHand === true) return { state: "stopped by hand", level: "warn" };
  if (running === false) return lastError ? { state: "stopped", level: "bad" } : { state: "not running", level: "warn" };
  if (connected === false) return { state: "connecting", level: "warn" };
  if (connected === true) return { state: "connected", level: "good" };
  return running === true ? { state: "running", level: "good" } : { state: "idle", level: "" };
}

/** Accounts in the order of their channels. */
export function channelLines({ channelOrder, channelLabels, channelAccounts }: ChannelsStatus): readonly ChannelLine[] {
  return channelOrder.flatMap((id) =>
    (channelAccounts[id] ?? []).map((account): ChannelLine => {
      const { accountId, name, lastError } = account;
      const several = (channelAccounts[id]?.length ?? 0) > 1 || accountId !== "default";
      const times = [account.lastInboundAt, account.lastOutboundAt].filter((at): at is number => typeof at === "number");
      const state = stateOf(account);
      return {
        id: `${id}:${accountId}`,
        name: `${channelLabels[id] ?? id}${several ? ` (${name ?? accountId})` : ""}`,
        ...state,
        ...(lastError && state.level !== "" && state.level !== "good" ? { error: lastError } : {}),
        ...(times.length === 0 ? {} : { lastAt: Math.max(...times) }),
      };
    }),
  );
}

/** Whether it is healthy: failures first, then warnings. */
export function summaryOf({ problems, answering, runs }: Overview, channels: readonly ChannelLine[]): Summary {
  const errors = problems.filter(({ level }) => level === "error").length;
  const warnings = problems.length - errors;
  const up = channels.filter(({ level }) => level === "good").length;
  const meant = channels.filter(({ level }) => level !== "").length;
  const more = [
    answering.model === null ? "No model" : answering.offline ? "Built-in offline model" : answering.model,
    meant === 0 ? "no channels connected" : `${up} of ${meant} ${meant === 1 ? "channel" : "channels"} connected`,
    runs.length === 0 ? "idle" : `${runs.length} ${runs.length === 1 ? "run" : "runs"} in progress`,
  ].join(" · ");
  if (answering.model === null) return { level: "bad", text: "No model available", more };
  if (errors > 0) return { level: "bad", text: errors === 1 ? "1 problem" : `${errors} problems`, more };
  if (warnings > 0) return { level: "warn", text: warnings === 1 ? "1 warning" : `${warnings} warnings`, more };
  if (channels.some(({ level }) => level === "bad")) return { level: "bad", text: "A channel is disconnected", more };
  return { level: "good", text: "All systems normal", more };
}

export type Presence = MethodResult<"system-presence">;

/** Programs that are alike, counted; the one that was there last stands for them. */
export function programsOf(presence: Presence): readonly { readonly entry: Presence[number]; readonly count: number }[] {
  const alike = new Map<string, { entry: Presence[number]; count: number }>();
  for (const entry of presence) {
    const { host, text, mode, platform, version, reason } = entry;
    const name = JSON.stringify([host ?? text, mode, platform, version, reason === "disconnect"]);
    const known = alike.get(name);
    alike.set(name, { entry: known && known.entry.ts >= entry.ts ? known.entry : entry, count: (known?.count ?? 0) + 1 });
  }
  return [...alike.values()];
}

/** Which page a problem names, as an address: the setup is the page of the first steps. */
export const pageOf = (page: string | undefined): string | undefined => (page === "setup" ? "start" : page);
