import type { MethodResult } from "openclaw/client";
import { plural } from "../../base/figures.ts";
import { place } from "../../shell/router.ts";
import { t } from "../../words/words.ts";

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
  if (enabled === false) return { state: t("Off"), level: "" };
  if (configured === false) return { state: t("Not set up"), level: "" };
  if (stoppedByHand === true) return { state: t("Stopped manually"), level: "warn" };
  if (running === false) return lastError ? { state: t("Stopped"), level: "bad" } : { state: t("Not running"), level: "warn" };
  if (connected === false) return { state: t("Connecting"), level: "warn" };
  if (connected === true) return { state: t("Connected"), level: "good" };
  return running === true ? { state: t("Running"), level: "good" } : { state: t("Idle"), level: "" };
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
    answering.model === null ? t("No model") : answering.offline ? t("Built-in offline model") : answering.model,
    meant === 0 ? t("no channels connected") : t`${up} of ${plural(meant, t("channel"), t("channels"))} connected`,
    runs.length === 0 ? t("idle") : t`${plural(runs.length, t("run"), t("runs"))} in progress`,
  ].join(" · ");
  if (answering.model === null) return { level: "bad", text: t("No model available"), more };
  if (errors > 0) return { level: "bad", text: plural(errors, t("problem"), t("problems")), more };
  if (warnings > 0) return { level: "warn", text: warnings === 1 ? t("1 warning") : t`${warnings} warnings`, more };
  if (channels.some(({ level }) => level === "bad")) return { level: "bad", text: t("A channel is disconnected"), more };
  return { level: "good", text: t("All systems normal"), more };
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

export type Problem = Overview["problems"][number];

/** What helps with a problem: something that is done here, or the page where it can be done. */
export type Fix =
  | { readonly kind: "link"; readonly label: string; readonly href: string }
  | { readonly kind: "reconnect"; readonly label: string; readonly channel: string; readonly accountId: string };

const PAGES: Readonly<Record<string, readonly [label: string, path: string]>> = {
  setup: [t("Set up a model"), "start"],
  channels: [t("Open channels"), "channels"],
  config: [t("Open configuration"), "config"],
  plugins: [t("Open plugins"), "plugins"],
  trace: [t("Open trace"), "trace"],
};

/** One thing for each problem. A run's own trace says most; a channel that does not come back by itself needs its settings; the log knows about the rest. */
export function fixOf({ id, why, page, level }: Problem, mayChange: boolean): Fix {
  if (why !== undefined) return { kind: "link", label: t("Open trace"), href: place("trace", [why]) };
  const [, channel, accountId] = /^channel:([^:]+):(.+)$/.exec(id) ?? [];
  if (channel !== undefined && accountId !== undefined) {
    if (level === "warn" && mayChange) return { kind: "reconnect", label: t("Reconnect"), channel, accountId };
    return { kind: "link", label: t("Fix connection"), href: place("channels", [channel, accountId]) };
  }
  const [label, path] = PAGES[page ?? ""] ?? [t("Open logs"), "logs"];
  return { kind: "link", label, href: place(path) };
}

/** The problem that the headline shows: the newest error, else the newest warning. */
export const headlineOf = (problems: readonly Problem[]): Problem | undefined => problems.find(({ level }) => level === "error") ?? problems[0];
