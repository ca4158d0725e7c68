import { isRecord } from "../../base/records.ts";
import type { Fields } from "./arguments.ts";

/** Members of the contract with channels that this version never calls. The list may only get shorter; `scripts/unread.ts` compares it with the code. */
export const UNCALLED = [
  "agentTools",
  "allowlist",
  "approvalCapability",
  "bindings",
  "commands.skipWhenConfigEmpty",
  "conversationBindings",
  "defaults",
  "doctor",
  "elevated.allowFromFallback",
  "heartbeat.resolveRecipients",
  "lifecycle",
  "message",
  "messaging.formatTargetDisplay",
  "onboarding.disable",
  "secrets",
  "setupWizard",
  "status.logSelfId",
  "status.resolveAccountState",
] as const;

/** Those of them that a plugin brings. */
export function uncalledIn(plugin: Fields): readonly string[] {
  return UNCALLED.filter((path) => {
    let value: unknown = plugin;
    for (const key of path.split(".")) value = isRecord(value) ? value[key] : undefined;
    return value !== undefined && value !== null && value !== false;
  });
}
