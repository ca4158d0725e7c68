/** Where the configuration of a channel stands. */
import type { AgentEntry, HostConfig } from "../protocol/index.ts";

export type Section = Readonly<Record<string, unknown>>;

/** The value as an object with keys, if it is one. */
export const sectionOf = (value: unknown): Section | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Section) : undefined;

/** The sections that say something about an account, its own first. */
export function channelSections(cfg: Partial<HostConfig> | undefined, channel?: string | null, accountId?: string | null): Section[] {
  const own = channel ? sectionOf(cfg?.channels?.[channel]) : undefined;
  const accounts = sectionOf(own?.["accounts"]);
  const wanted = (accountId ?? "").trim().toLowerCase() || "default";
  const key = Object.keys(accounts ?? {}).find((name) => name.trim().toLowerCase() === wanted);
  return [key === undefined ? undefined : sectionOf(accounts?.[key]), own].filter((section) => section !== undefined);
}

export interface MessagePlace {
  readonly channel?: string | undefined;
  readonly accountId?: string | undefined;
}

/** The most particular of account, channel and `messages` that sets a text under `key`. */
export function messageSetting(cfg: HostConfig, key: string, { channel, accountId }: MessagePlace): string | undefined {
  const sources = [...channelSections(cfg, channel, accountId), sectionOf(cfg.messages)];
  return sources.map((source) => source?.[key]).find((value) => typeof value === "string");
}

/** Who an agent is, as configured. */
export function agentIdentity(cfg: HostConfig, agentId: string): NonNullable<AgentEntry["identity"]> {
  const wanted = agentId.trim().toLowerCase();
  return cfg.agents?.list?.find((agent) => agent.id.toLowerCase() === wanted)?.identity ?? {};
}

/** Where a channel's section lists the places that are answered. */
export interface RoomMap {
  /** The key of the servers that rooms are in; each has `rooms` of its own. They are known by id: anybody can give theirs another's name. */
  readonly spaces?: "guilds";
  /** The key of the rooms. */
  readonly rooms: "groups" | "channels";
  /** How a key may name a room that is not written as its id: `#name`, or also without the `#`. */
  readonly named?: "hash" | "plain";
  /** There is no list of senders beside it: who may write in a listed place is everybody, or whom `users` and `roles` name. */
  readonly listedIsEnough?: boolean;
}

const GROUPS: RoomMap = { rooms: "groups" };
const ROOM_MAPS: ReadonlyMap<string, RoomMap> = new Map<string, RoomMap>([
  ["discord", { spaces: "guilds", rooms: "channels", named: "plain", listedIsEnough: true }],
  ["slack", { rooms: "channels", named: "hash", listedIsEnough: true }],
]);

/** `groups`, for channels that do not have maps of their own. */
export const roomMapOf = (channel: string): RoomMap => ROOM_MAPS.get(channel) ?? GROUPS;
