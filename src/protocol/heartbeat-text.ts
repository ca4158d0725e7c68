import type { EventPayload } from "./catalog.ts";

/** Why a heartbeat did nothing, for people. */
const SKIPPED: Readonly<Record<string, string>> = {
  "quiet-hours": "outside its active hours",
  "empty-heartbeat-file": "HEARTBEAT.md asks for nothing, so no model was called",
  "no-heartbeat-file": "there is no HEARTBEAT.md, so no model was called",
  unchanged: "nothing that HEARTBEAT.md watches has changed, so no model was called",
  "alerts-disabled": "the channel shows nothing of heartbeats",
  "no-target": "its target is none: the answer is in the session only",
  duplicate: "the same was sent less than a day ago",
};

/** Why a heartbeat was skipped or failed; what is no known word is a text already. */
export const heartbeatReason = (reason: string): string => SKIPPED[reason] ?? reason;

/** How a heartbeat went, in one line: what the agent reported, or why nothing happened. */
export function heartbeatText({ status, reason, preview, channel }: Pick<EventPayload<"heartbeat">, "status" | "reason" | "preview" | "channel">): string {
  if (status === "ok-empty" || status === "ok-token") return "OK, nothing to report";
  if (status === "sent") return `sent${channel === undefined ? "" : ` to ${channel}`}: ${preview ?? "a file"}`;
  const why = reason === undefined ? "" : `: ${heartbeatReason(reason)}`;
  return `${status === "failed" ? "failed" : "did nothing"}${why}`;
}
