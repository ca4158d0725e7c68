import { effectiveChannelConfig, formatSenderLabel } from "../../channels/index.ts";
import type { Store } from "../../store/index.ts";
import type { HostConfig } from "../../protocol/index.ts";
import { inboundOf, type Inbound } from "../intake/inbound-record.ts";
import type { HistoryLine } from "./message-text.ts";

const DEFAULT_LIMIT = 50;
const MOST = 500;
const MAX_BODY = 2000;

function limitOf(cfg: HostConfig, { channel, accountId }: Inbound): number {
  const own = effectiveChannelConfig(cfg, channel, accountId)["historyLimit"];
  const general = (cfg.messages?.["groupChat"] as { readonly historyLimit?: unknown } | undefined)?.historyLimit;
  const limit = [own, general].find((value): value is number => typeof value === "number" && Number.isInteger(value) && value >= 0) ?? DEFAULT_LIMIT;
  return Math.min(limit, MOST);
}

/** What was said in the group since its last turn and was not for us, oldest first. */
export async function historyOf(store: Pick<Store, "read">, cfg: HostConfig, first: Inbound): Promise<readonly HistoryLine[]> {
  if (first.event.chat.type === "direct") return [];
  const limit = limitOf(cfg, first);
  if (limit === 0) return [];
  const { channel, accountId: account, conversation } = first;
  const rows = await store.read("inbox.ofConversation", { channel, account, conversation, before: first.id, limit });
  const end = rows.findIndex(({ outcome, kind, state }) => kind === "message" && !(state === "settled" && (outcome === "silent" || outcome === "refused")));
  const since = end === -1 ? rows : rows.slice(0, end);
  return since
    .filter(({ outcome, kind, text }) => outcome === "silent" && kind === "message" && text !== "")
    .flatMap((row) => {
      const inbound = inboundOf(row);
      if (!inbound) return [];
      return [{ sender: formatSenderLabel(inbound.event.sender) ?? "?", body: row.text.slice(0, MAX_BODY), timestamp: inbound.event.at ?? row.receivedAt }];
    })
    .toReversed();
}
