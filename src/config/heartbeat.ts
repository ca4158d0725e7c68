/** Which agents are woken by themselves, how often, and what is shown of it. */
import { isRecord } from "../base/records.ts";
import { defaultAgentId } from "./agent-workspace.ts";
import type { OpenClawConfig } from "./schema/index.ts";
import { parseDuration, SHORTEST_HEARTBEAT_MS } from "./validate/index.ts";

type Configured = NonNullable<NonNullable<NonNullable<OpenClawConfig["agents"]>["defaults"]>["heartbeat"]>;

/** The settings of one agent's heartbeat, the agent's over the general ones, with the defaults filled in. */
export interface HeartbeatSettings extends Configured {
  readonly every: string;
  /** Milliseconds; 0 is off. */
  readonly everyMs: number;
  readonly prompt: string;
  readonly target: string;
  readonly ackMaxChars: number;
}

/** What is shown of heartbeats in a chat. */
export interface HeartbeatVisibility {
  readonly showOk: boolean;
  readonly showAlerts: boolean;
  readonly useIndicator: boolean;
}

export const HEARTBEAT_PROMPT =
  "Read HEARTBEAT.md in your workspace, if it is there, and do what it says, no more: do not take up tasks of earlier conversations again. If nothing needs attention, answer HEARTBEAT_OK.";
const EVERY = "30m";
const ACK_MAX_CHARS = 300;

const listed = (config: OpenClawConfig) => config.agents?.list ?? [];

/** The agents that have heartbeats: those with settings of their own; without any, the default agent. */
export function heartbeatAgents(config: OpenClawConfig): readonly string[] {
  const own = listed(config).filter(({ heartbeat }) => heartbeat !== undefined);
  return own.length === 0 ? [defaultAgentId(config)] : own.map(({ id }) => id.toLowerCase());
}

/** The settings for an agent, whether or not it has heartbeats. */
export function heartbeatSettings(config: OpenClawConfig, agentId: string): HeartbeatSettings {
  const own = listed(config).find(({ id }) => id.toLowerCase() === agentId.toLowerCase())?.heartbeat;
  const set = { ...config.agents?.defaults?.heartbeat, ...own };
  const every = set.every?.trim() || EVERY;
  const everyMs = parseDuration(every, "m") ?? 0;
  return {
    ...set,
    every,
    everyMs: everyMs > 0 ? Math.max(everyMs, SHORTEST_HEARTBEAT_MS) : 0,
    prompt: set.prompt?.trim() || HEARTBEAT_PROMPT,
    target: set.target?.trim().toLowerCase() || "last",
    ackMaxChars: Math.max(0, set.ackMaxChars ?? ACK_MAX_CHARS),
  };
}

const FLAGS = ["showOk", "showAlerts", "useIndicator"] as const;

/** What a channel shows: the account's setting over the channel's, over that of all channels. WebChat has only the last. */
export function heartbeatVisibility(config: OpenClawConfig, channel: string, accountId: string): HeartbeatVisibility {
  const section = channel === "webchat" ? undefined : config.channels?.[channel];
  const accounts = section?.["accounts"];
  const account = isRecord(accounts) ? accounts[accountId] : undefined;
  const sources = [isRecord(account) ? account["heartbeat"] : undefined, section?.["heartbeat"], config.channels?.defaults?.heartbeat];
  const shown = { showOk: false, showAlerts: true, useIndicator: true };
  for (const flag of FLAGS) {
    for (const source of sources) {
      const value = isRecord(source) ? source[flag] : undefined;
      if (typeof value !== "boolean") continue;
      shown[flag] = value;
      break;
    }
  }
  return shown;
}

/** The minute of the day that `HH:MM` stands for; `24:00` is the end of it. */
function minuteOf(text: string | undefined): number | undefined {
  const match = /^(\d{1,2}):(\d\d)$/.exec(text?.trim() ?? "");
  if (!match) return undefined;
  const minute = Number(match[1]) * 60 + Number(match[2]);
  return minute <= 1440 ? minute : undefined;
}

function clockIn(timeZone: string | undefined, now: number): number {
  const parts = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone }).formatToParts(now);
  const part = (type: string): number => Number(parts.find((one) => one.type === type)?.value ?? 0);
  return part("hour") * 60 + part("minute");
}

/** Whether heartbeats may run at this time of the day. The start belongs to the hours, the end does not; hours may reach over midnight. */
export function isActiveHour({ activeHours }: Pick<HeartbeatSettings, "activeHours">, userTimezone: string | undefined, now: number): boolean {
  const start = minuteOf(activeHours?.start);
  const end = minuteOf(activeHours?.end);
  if (start === undefined || end === undefined || start === end) return true;
  const asked = activeHours?.timezone?.trim() ?? "user";
  const named = asked.toLowerCase() === "local" ? undefined : asked.toLowerCase() === "user" || asked === "" ? userTimezone : asked;
  let minute: number;
  try {
    minute = clockIn(named, now);
  } catch {
    // There is no such zone: the user's, else this machine's.
    minute = clockIn(undefined, now);
  }
  return start < end ? minute >= start && minute < end : minute >= start || minute < end;
}
