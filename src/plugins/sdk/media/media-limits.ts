/** How large media may be. */
import type { HostConfig } from "../../../protocol/index.ts";
import { normalizeAccountId } from "../account-ids.ts";

const MB = 1024 * 1024;

/** The channel's limit, else `agents.defaults.mediaMaxMb`, in bytes. */
export function resolveChannelMediaMaxBytes(params: {
  cfg: HostConfig;
  resolveChannelLimitMb(params: { cfg: HostConfig; accountId: string }): number | undefined;
  accountId?: string | null | undefined;
}): number | undefined {
  const own = params.resolveChannelLimitMb({ cfg: params.cfg, accountId: normalizeAccountId(params.accountId) });
  const general = params.cfg.agents?.defaults?.["mediaMaxMb"];
  const limit = own || (typeof general === "number" ? general : undefined);
  return limit ? limit * MB : undefined;
}
