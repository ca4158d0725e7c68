/** Small steps of setting up a channel. */
import type { HostConfig } from "../../../protocol/index.ts";
import { channelSection } from "../account-ids.ts";
import { withChannelSection } from "./config-sections.ts";

/** Entries from one line: separated by commas, semicolons or line breaks. */
export function splitSetupEntries(raw: string): string[] {
  return raw
    .split(/[\n,;]+/)
    .map((entry) => entry.trim())
    .filter(Boolean);
}

/** Switches a whole channel on or off. */
export function setSetupChannelEnabled(cfg: HostConfig, channel: string, enabled: boolean): HostConfig {
  return withChannelSection(cfg, channel, { ...channelSection(cfg, channel), enabled });
}
