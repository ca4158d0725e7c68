/** What a channel is called and what it can do. */
import type { ChatType } from "../host-config.ts";

/** `telegram`, `discord`, … or whatever a plugin brings. */
export type ChannelId = string;

export interface ChannelMeta {
  id: ChannelId;
  label: string;
  selectionLabel: string;
  docsPath: string;
  blurb: string;
  docsLabel?: string | undefined;
  /** Lower comes first in lists. */
  order?: number | undefined;
  aliases?: string[] | undefined;
  selectionDocsPrefix?: string | undefined;
  selectionDocsOmitLabel?: boolean | undefined;
  selectionExtras?: string[] | undefined;
  detailLabel?: string | undefined;
  systemImage?: string | undefined;
  showConfigured?: boolean | undefined;
  quickstartAllowFrom?: boolean | undefined;
  forceAccountBinding?: boolean | undefined;
  preferSessionLookupForAnnounceTarget?: boolean | undefined;
  /** Channels that stay off when this one is configured. */
  preferOver?: string[] | undefined;
}

export interface ChannelCapabilities {
  chatTypes: (ChatType | "thread")[];
  polls?: boolean | undefined;
  reactions?: boolean | undefined;
  edit?: boolean | undefined;
  unsend?: boolean | undefined;
  reply?: boolean | undefined;
  effects?: boolean | undefined;
  groupManagement?: boolean | undefined;
  threads?: boolean | undefined;
  media?: boolean | undefined;
  nativeCommands?: boolean | undefined;
  blockStreaming?: boolean | undefined;
}

export interface ChannelConfigUiHint {
  label?: string | undefined;
  help?: string | undefined;
  advanced?: boolean | undefined;
  sensitive?: boolean | undefined;
  placeholder?: string | undefined;
  itemTemplate?: unknown;
}

/** JSON Schema of `channels.<id>`. */
export interface ChannelConfigSchema {
  schema: Record<string, unknown>;
  uiHints?: Record<string, ChannelConfigUiHint> | undefined;
}
