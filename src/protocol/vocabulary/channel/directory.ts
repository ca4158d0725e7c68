/** Who and what can be written to. */
import type { RuntimeEnv } from "../environment.ts";
import type { HostConfig } from "../host-config.ts";

export type ChannelDirectoryEntryKind = "user" | "group" | "channel";

export interface ChannelDirectoryEntry {
  kind: ChannelDirectoryEntryKind;
  id: string;
  name?: string | undefined;
  handle?: string | undefined;
  avatarUrl?: string | undefined;
  rank?: number | undefined;
  raw?: unknown;
}

interface Account {
  cfg: HostConfig;
  accountId?: string | null | undefined;
  runtime: RuntimeEnv;
}

interface Listing extends Account {
  query?: string | null | undefined;
  limit?: number | null | undefined;
}

export interface ChannelDirectoryAdapter {
  self?(params: Account): Promise<ChannelDirectoryEntry | null>;
  listPeers?(params: Listing): Promise<ChannelDirectoryEntry[]>;
  listPeersLive?(params: Listing): Promise<ChannelDirectoryEntry[]>;
  listGroups?(params: Listing): Promise<ChannelDirectoryEntry[]>;
  listGroupsLive?(params: Listing): Promise<ChannelDirectoryEntry[]>;
  listGroupMembers?(params: Account & { groupId: string; limit?: number | null | undefined }): Promise<ChannelDirectoryEntry[]>;
}

export type ChannelResolveKind = "user" | "group";

export interface ChannelResolveResult {
  input: string;
  resolved: boolean;
  id?: string | undefined;
  name?: string | undefined;
  note?: string | undefined;
}

export interface ChannelResolverAdapter {
  resolveTargets(params: Account & { inputs: string[]; kind: ChannelResolveKind }): Promise<ChannelResolveResult[]>;
}
