import type { MethodResult } from "openclaw/client";
import { t } from "../../words/words.ts";

export type Paired = MethodResult<"device.pair.list">["paired"][number];
export type Waiting = MethodResult<"device.pair.list">["pending"][number];
export type Token = NonNullable<Paired["tokens"]>[number];

/** A device's name for people: what it calls itself, or the beginning of its id. */
export function nameOf({ displayName, clientId, deviceId }: Pick<Paired, "displayName" | "clientId" | "deviceId">): string {
  return displayName?.trim() || clientId?.trim() || t`Device ${deviceId.slice(0, 8)}`;
}

/** What runs on a device: this page in a browser, or another program with its platform. */
export function programOf({ clientId, clientMode, platform }: Pick<Paired, "clientId" | "clientMode" | "platform">): string {
  if (clientId === "openclaw-control-ui") return t("Control UI in a browser");
  return [...new Set([clientId, clientMode, platform])].filter((word) => word !== undefined && word !== "").join(", ");
}

/** When a device was last let in with one of its tokens. */
export function lastSeen({ tokens = [] }: Pick<Paired, "tokens">): number | undefined {
  const times = tokens.flatMap(({ lastUsedAtMs }) => lastUsedAtMs ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

/** Tokens that still open the door. */
export const liveTokens = ({ tokens = [] }: Pick<Paired, "tokens">): readonly Token[] => tokens.filter(({ revokedAtMs }) => revokedAtMs === undefined);

const SCOPES: Readonly<Record<string, string>> = {
  "operator.read": t("View everything"),
  "operator.write": t("Chat and send"),
  "operator.admin": t("Change everything"),
  "operator.approvals": t("Approve commands"),
  "operator.pairing": t("Approve devices and senders"),
};

/** What a scope lets its holder do. Unknown ones are shown as they are. */
export const scopeWords = (scope: string): string => SCOPES[scope] ?? scope;

/** This browser first, then what was seen last. */
export function inOrder(devices: readonly Paired[], own: string | undefined): readonly Paired[] {
  const seen = (device: Paired): number => lastSeen(device) ?? device.approvedAtMs;
  return devices.toSorted((a, b) => Number(b.deviceId === own) - Number(a.deviceId === own) || seen(b) - seen(a));
}
