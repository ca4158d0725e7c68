/** The configuration sections of a channel. */
import { knownChannel, type KnownChannel } from "../config/index.ts";
import type { AgentEntry, HostConfig } from "../protocol/index.ts";

export type Section = Readonly<Record<string, unknown>>;

/** The value as an object, if it is one. */
export const sectionOf = (value: unknown): Section | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Section) : undefined;

/** The sections that apply to an account, its own first. */
export function channelSections(cfg: Partial<HostConfig> | undefined, channel?: string | null, accountId?: string | null): Section[] {
  const own = channel ? sectionOf(cfg?.channels?.[channel]) : undefined;
  const accounts = sectionOf(own?.["accounts"]);
  const wanted = (accountId ?? "").trim().toLowerCase() || "default";
  const key = Object.keys(accounts ?? {}).find((name) => name.trim().toLowerCase() === wanted);
  return [key === undefined ? undefined : sectionOf(accounts?.[key]), own].filter((section) => section !== undefined);
}

export interface MessageScope {
  readonly channel?: string | undefined;
  readonly accountId?: string | undefined;
}

/** The most specific of account, channel and `messages` that sets a text under `key`. */
export function messageSetting(cfg: HostConfig, key: string, { channel, accountId }: MessageScope): string | undefined {
  const sources = [...channelSections(cfg, channel, accountId), sectionOf(cfg.messages)];
  return sources.map((source) => source?.[key]).find((value) => typeof value === "string");
}

/** The configured identity of an agent. */
export function agentIdentity(cfg: HostConfig, agentId: string): NonNullable<AgentEntry["identity"]> {
  const wanted = agentId.trim().toLowerCase();
  return cfg.agents?.list?.find((agent) => agent.id.toLowerCase() === wanted)?.identity ?? {};
}

/** Where a channel's section lists the chats that are answered. */
export type GroupMap = NonNullable<KnownChannel["groupMap"]>;

const GROUPS: GroupMap = { chats: "groups" };

/** `groups`, for channels without their own maps. */
export const groupMapOf = (channel: string): GroupMap => knownChannel(channel).groupMap ?? GROUPS;
