/** A channel's text settings: its account's, the channel's, a default. */
import { knownChannel } from "../../config/index.ts";
import type { ChunkMode, HostConfig, MarkdownTableMode } from "../../protocol/index.ts";
import { channelSections, sectionOf } from "../sections.ts";

function first<T>(values: readonly unknown[], fits: (value: unknown) => value is T): T | undefined {
  return values.find(fits);
}

const isMode = (value: unknown): value is ChunkMode => value === "length" || value === "newline";
const isLimit = (value: unknown): value is number => typeof value === "number" && value > 0;
const isTables = (value: unknown): value is MarkdownTableMode => value === "off" || value === "bullets" || value === "code";

export function resolveChunkMode(cfg: HostConfig | undefined, channel?: string, accountId?: string | null): ChunkMode {
  const found = channelSections(cfg, channel, accountId);
  return (
    first([...found.map((section) => section["chunkMode"]), ...found.map((section) => sectionOf(section["streaming"])?.["chunkMode"])], isMode) ?? "length"
  );
}

const DEFAULT_LIMIT = 4000;

/** Most characters of a message. */
export function resolveTextChunkLimit(
  cfg: HostConfig | undefined,
  channel?: string,
  accountId?: string | null,
  options: { readonly fallbackLimit?: number | undefined } = {},
): number {
  const found = channelSections(cfg, channel, accountId).map((section) => section["textChunkLimit"]);
  return first([...found, options.fallbackLimit], isLimit) ?? DEFAULT_LIMIT;
}

export function resolveMarkdownTableMode(params: {
  readonly cfg?: Partial<HostConfig> | undefined;
  readonly channel?: string | null | undefined;
  readonly accountId?: string | null | undefined;
}): MarkdownTableMode {
  const found = channelSections(params.cfg, params.channel, params.accountId).map((section) => sectionOf(section["markdown"])?.["tables"]);
  return first(found, isTables) ?? (knownChannel(params.channel ?? "").tablesAsBullets ? "bullets" : "code");
}
