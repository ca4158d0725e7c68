/** Channels in overviews of the gateway. */
import { isRecord } from "../../../base/records.ts";
import type { Health } from "../../../protocol/index.ts";
import type { ChannelsPort } from "../channels.ts";

type Port = Pick<ChannelsPort, "status"> | undefined;
type Account = Awaited<ReturnType<ChannelsPort["status"]>>["channelAccounts"][string][number];

/** What an overview shows of an account; `channels.status` has the rest. */
const SHOWN = [
  "accountId",
  "name",
  "enabled",
  "configured",
  "linked",
  "running",
  "stoppedByHand",
  "connected",
  "receiving",
  "sending",
  "lastError",
  "lastInboundAt",
  "lastOutboundAt",
  "health",
] as const;

const brief = (account: Account): Record<string, unknown> => Object.fromEntries(SHOWN.flatMap((key) => (key in account ? [[key, account[key]]] : [])));

/** The channels' part of `health`. */
export async function channelsHealth(port: Port): Promise<Pick<Health, "channels" | "channelOrder" | "channelLabels">> {
  if (!port) return { channels: {}, channelOrder: [], channelLabels: {} };
  const { channels, channelOrder, channelLabels, channelAccounts } = await port.status();
  const entries = channelOrder.map((id) => {
    const accounts = channelAccounts[id] ?? [];
    const configured = accounts.some((account) => account.configured === true);
    const summary = isRecord(channels[id]) ? channels[id] : {};
    return [id, { ...summary, configured, accounts: Object.fromEntries(accounts.map((account) => [account.accountId, brief(account)])) }] as const;
  });
  return { channels: Object.fromEntries(entries), channelOrder, channelLabels };
}

function wordsFor(account: Account): string {
  const health = account["health"] as { readonly state: string; readonly why: string } | undefined;
  if (health) return health.why === "" ? health.state : `${health.state} (${health.why})`;
  return account.enabled === false ? "disabled" : account.configured === false ? "not configured" : "not running";
}

/** One line for each channel that has accounts: `Telegram: ok`, `IRC: home ok, work down (refused)`. */
export async function channelLines(port: Port): Promise<readonly string[]> {
  if (!port) return [];
  const { channelOrder, channelLabels, channelAccounts } = await port.status();
  return channelOrder.flatMap((id) => {
    const accounts = channelAccounts[id] ?? [];
    const only = accounts.length === 1;
    const words = accounts.map((account) => (only ? wordsFor(account) : `${account.accountId} ${wordsFor(account)}`));
    return words.length > 0 ? [`${channelLabels[id] ?? id}: ${words.join(", ")}`] : [];
  });
}
