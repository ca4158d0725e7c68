/** Whether and how an answer is sent in blocks while it is written. */
import { channelSections, resolveHumanDelayConfig, resolveTextChunkLimit, sectionOf } from "../../../channels/index.ts";
import type { ChannelPlugin, HostConfig, HumanDelayConfig } from "../../../protocol/index.ts";

export type BreakPreference = "paragraph" | "newline" | "sentence";

export interface ChunkSettings {
  /** Nothing shorter is cut off, unless the answer ends. */
  readonly minChars: number;
  readonly maxChars: number;
  readonly breakPreference: BreakPreference;
}

export interface CoalesceSettings {
  readonly minChars: number;
  readonly maxChars: number;
  /** A block goes out when no other came for this long. */
  readonly idleMs: number;
}

export interface BlockSettings {
  readonly enabled: boolean;
  /** The channel's own setting says so; otherwise a preview goes before. */
  readonly explicit: boolean;
  /** `message_end`: nothing goes out before an answer of the model is complete. */
  readonly breakAt: "text_end" | "message_end";
  readonly chunk: ChunkSettings;
  readonly coalesce: CoalesceSettings;
  readonly humanDelay: HumanDelayConfig | undefined;
}

export interface BlockPlace {
  readonly plugin: Pick<ChannelPlugin, "capabilities" | "outbound" | "streaming"> | undefined;
  readonly channel: string;
  readonly accountId: string;
  readonly agentId: string;
}

const MIN_CHARS = 800;
const MAX_CHARS = 1200;
const IDLE_MS = 1000;

const numberIn = (section: unknown, key: string, least: number): number | undefined => {
  const value = sectionOf(section)?.[key];
  return typeof value === "number" && Number.isFinite(value) && value >= least ? Math.floor(value) : undefined;
};

const isPreference = (value: unknown): value is BreakPreference => value === "paragraph" || value === "newline" || value === "sentence";

/** The account's setting, the channel's, the agents' default. No block is longer than a message of the channel. */
export function blockSettings(cfg: HostConfig, { plugin, channel, accountId, agentId }: BlockPlace): BlockSettings {
  const own = channelSections(cfg, channel, accountId);
  const defaults = cfg.agents?.defaults ?? {};
  const said = own.map((section) => section["blockStreaming"]).find((value) => typeof value === "boolean");
  const limit = resolveTextChunkLimit(cfg, channel, accountId, { fallbackLimit: plugin?.outbound?.textChunkLimit });
  const chunk = defaults["blockStreamingChunk"];
  const maxChars = Math.min(numberIn(chunk, "maxChars", 1) ?? Math.max(MAX_CHARS, numberIn(chunk, "minChars", 1) ?? 0), limit);
  const preference = sectionOf(chunk)?.["breakPreference"];
  const sources = [
    ...own.map((section) => section["blockStreamingCoalesce"]),
    defaults["blockStreamingCoalesce"],
    plugin?.streaming?.blockStreamingCoalesceDefaults,
  ];
  const coalesce = (key: string, least: number): number | undefined =>
    sources.map((source) => numberIn(source, key, least)).find((value) => value !== undefined);
  const together = Math.min(coalesce("maxChars", 1) ?? limit, limit);
  return {
    enabled: said ?? (defaults["blockStreamingDefault"] === "on" && plugin?.capabilities.blockStreaming !== false),
    explicit: said === true,
    breakAt: defaults["blockStreamingBreak"] === "message_end" ? "message_end" : "text_end",
    chunk: {
      minChars: Math.min(numberIn(chunk, "minChars", 1) ?? MIN_CHARS, maxChars),
      maxChars,
      breakPreference: isPreference(preference) ? preference : "paragraph",
    },
    coalesce: {
      minChars: Math.min(coalesce("minChars", 1) ?? MIN_CHARS, together),
      maxChars: Math.max(together, maxChars),
      idleMs: coalesce("idleMs", 0) ?? IDLE_MS,
    },
    humanDelay: resolveHumanDelayConfig(cfg, agentId),
  };
}
