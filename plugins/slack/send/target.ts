/** Whom a message goes to. */
import { normalizeSlackMessagingTarget } from "openclaw/plugin-sdk";
import { unfit } from "openclaw/plugin-sdk/channel-kit";
import type { Workspace } from "../workspace.ts";

export type Target =
  | { readonly kind: "user" | "channel"; readonly id: string }
  /** The answer to a slash command, which may be for one person only. */
  | { readonly kind: "slash"; readonly id: string; readonly user: string; readonly key: string };

export const slashTarget = (channel: string, user: string, key: string): string => `slash:${channel}:${user}:${key}`;

/** `channel:C1`, `user:U1`, `<@U1>`, `slack:U1`, `@U1`, `#C1`; a bare id is a channel, except one of a person. */
export function parseTarget(to: string): Target {
  const [, channel, user, key] = /^slash:([A-Z0-9]+):([A-Z0-9]+):([\w.-]+)$/i.exec(to.trim()) ?? [];
  if (channel !== undefined && user !== undefined && key !== undefined) return { kind: "slash", id: channel.toUpperCase(), user: user.toUpperCase(), key };
  const isPerson = /^[UW][A-Z0-9]{8,}$/.test(to.trim());
  const [, kind, id = ""] = /^(user|channel):(.+)$/.exec(normalizeSlackMessagingTarget(isPerson ? `user:${to.trim()}` : to) ?? "") ?? [];
  // The normal form is in lower case, and Slack's ids are in capitals.
  if ((kind === "user" || kind === "channel") && /^[a-z0-9]+$/.test(id)) return { kind, id: id.toUpperCase() };
  throw unfit("send", `"${to}" is not a Slack target; use channel:<id> or user:<id>, such as channel:C0123456789`);
}

/** The conversation of a target. */
export async function channelOf(workspace: Workspace, to: string, signal?: AbortSignal): Promise<string> {
  const target = parseTarget(to);
  return target.kind === "user" ? workspace.directWith(target.id, signal) : target.id;
}

/** The id of a message, if this is one. */
export function messageTs(value: string | number | null | undefined): string | undefined {
  const text = String(value ?? "").trim();
  return /^\d{9,11}\.\d{1,6}$/.test(text) ? text : undefined;
}
