/** Approvers whom a channel's own section names: `channels.<id>.execApprovals`. */
import { isRecord } from "../../base/records.ts";
import type { HostConfig } from "../../protocol/index.ts";

/** A chat that a question is sent to. */
export interface Chat {
  readonly channel: string;
  readonly to: string;
  readonly accountId?: string;
  readonly threadId?: string | number;
  /** The question is deleted once it is decided. */
  readonly isCleanedUp?: boolean;
}

interface Asking {
  readonly channel: string;
  readonly accountId?: string;
  readonly approvers: readonly string[];
  readonly target: string;
  readonly isCleanedUp: boolean;
  readonly agentFilter: readonly string[];
  readonly sessionFilter: readonly string[];
}

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.flatMap((entry) => (typeof entry === "string" || typeof entry === "number" ? String(entry).trim() || [] : [])) : [];

function askingIn(channel: string, section: unknown, accountId?: string): Asking[] {
  const rules = isRecord(section) ? section["execApprovals"] : undefined;
  if (!isRecord(rules) || rules["enabled"] !== true) return [];
  const target = rules["target"];
  return [
    {
      channel,
      ...(accountId === undefined ? {} : { accountId }),
      approvers: textsIn(rules["approvers"]).map((entry) => entry.replace(/^(?:user:|<@!?)(\d+)>?$/, "$1")),
      target: target === "channel" || target === "both" ? target : "dm",
      isCleanedUp: rules["cleanupAfterResolve"] === true,
      agentFilter: textsIn(rules["agentFilter"]),
      sessionFilter: textsIn(rules["sessionFilter"]),
    },
  ];
}

/** Those of the channel, and of accounts that have rules of their own. */
function askingOf(cfg: HostConfig): readonly Asking[] {
  return Object.entries(cfg.channels ?? {}).flatMap(([channel, section]) => {
    if (!isRecord(section) || section["enabled"] === false) return [];
    const accounts = isRecord(section["accounts"]) ? Object.entries(section["accounts"]) : [];
    return [...askingIn(channel, section), ...accounts.flatMap(([id, account]) => askingIn(channel, account, id))];
  });
}

/** Whether the section of a channel or account names a sender by id as an approver. */
export function isChannelApprover(cfg: HostConfig, sender: { readonly channel: string; readonly accountId: string; readonly senderId: string }): boolean {
  return askingOf(cfg).some(
    ({ channel, accountId, approvers }) =>
      channel === sender.channel &&
      (accountId === undefined || accountId.toLowerCase() === sender.accountId.toLowerCase()) &&
      approvers.includes(sender.senderId),
  );
}

export interface ApprovalSubject {
  readonly agentId: string;
  readonly sessionKey: string;
  /** The chats that the question is about. */
  readonly own: readonly Chat[];
  matches(filter: string, key: string): boolean;
}

/** Approvers in private, the chat that it is about, or both. */
export function approverChats(cfg: HostConfig, { agentId, sessionKey, own, matches }: ApprovalSubject): readonly Chat[] {
  return askingOf(cfg).flatMap(({ channel, accountId, approvers, target, isCleanedUp, agentFilter, sessionFilter }) => {
    if (agentFilter.length > 0 && !agentFilter.includes(agentId)) return [];
    if (sessionFilter.length > 0 && !sessionFilter.some((filter) => matches(filter, sessionKey))) return [];
    const account = accountId === undefined ? {} : { accountId };
    const privately = target === "channel" ? [] : approvers.map((id) => ({ channel, to: `user:${id}`, ...account, isCleanedUp }));
    const there = target === "dm" ? [] : own.filter((chat) => chat.channel === channel).map((chat) => ({ ...chat, isCleanedUp }));
    return [...privately, ...there];
  });
}
