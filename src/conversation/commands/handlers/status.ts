import { formatDuration } from "../../../base/text.ts";
import type { SessionEntry } from "../../../protocol/index.ts";
import { knownTokens, queueSettings, reasoningLevel, thinkingLevel, verboseLevel } from "../../../sessions/index.ts";
import { heldElevated, sessionChoice } from "../../../tools/index.ts";
import { count, type Handling } from "../handling.ts";
import type { StatusFacts } from "../ports.ts";
import { choiceUse } from "../settings/exec-and-queue.ts";

type Entry = SessionEntry | undefined;

/** The status card: each line only when what it tells is known. */
export async function status({ ports, call, key }: Handling): Promise<string> {
  const config = ports.config.current();
  const [facts, entry, depth] = await Promise.all([ports.status.facts(key, call.agentId), ports.session.read(key), ports.runs.depth(key)]);
  const now = ports.clock.now();
  const think = thinkingLevel(config, entry, { modelDefault: facts.thinkingDefault ?? "off" }).value;
  const elevated = ports.elevation(call).permitted ? heldElevated(sessionChoice(entry), choiceUse({ ports, call, key })) : "off";
  const queue = queueSettings(config, entry, call.channel);
  const ownQueue = queue.debounceMs.source === "session" || queue.cap.source === "session" || queue.drop.source === "session";
  const details = [`depth ${depth}`, ...(ownQueue ? [`debounce ${queue.debounceMs.value} ms`, `cap ${queue.cap.value}`, `drop ${queue.drop.value}`] : [])];
  const activation = call.isGroup ? `Activation: ${entry?.["groupActivation"] === "always" ? "always" : "mention"} · ` : "";
  const lines = [
    `**OpenClaw ${facts.version}**${facts.commit === undefined ? "" : ` (${facts.commit})`}`,
    `Time: ${timeIn(config.agents?.defaults?.userTimezone?.trim() || "UTC", now, config.agents?.defaults?.timeFormat)}`,
    `Model: ${[facts.model, facts.auth].filter(Boolean).join(" · ")}`,
    tokens(entry, facts),
    context(entry, facts),
    ...(facts.lines ?? []),
    `Session: ${key}${entry ? ` • active ${formatDuration(Math.max(0, now - entry.updatedAt))} ago` : ""}`,
    `Runtime: ${facts.runtime} · Think: ${think} · verbose: ${verboseLevel(config, entry).value} · Reasoning: ${reasoningLevel(entry).value} · elevated: ${elevated}`,
    `${activation}Queue: ${queue.mode.value} (${details.join(", ")})`,
  ];
  return ports.redact(lines.filter((line) => line !== undefined).join("\n"));
}

/** `2026-11-15 21:00 Asia/Tokyo`; `9:00 PM` with a format of 12. A zone that nobody knows is UTC. */
function timeIn(timeZone: string, now: number, timeFormat: "auto" | "12" | "24" = "auto"): string {
  try {
    const day = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" }).format(now);
    const time = new Intl.DateTimeFormat(timeFormat === "12" ? "en-US" : "sv-SE", { timeZone, timeStyle: "short" }).format(now);
    return `${day} ${time.replaceAll("\u202F", " ")} ${timeZone}`;
  } catch {
    return timeIn("UTC", now, timeFormat);
  }
}

function tokens(entry: Entry, { usesApiKey, costUsd }: StatusFacts): string | undefined {
  const { inputTokens, outputTokens } = entry ?? {};
  if (typeof inputTokens !== "number" || typeof outputTokens !== "number") return undefined;
  const cost = usesApiKey && costUsd !== undefined ? ` · Cost: $${costUsd.toFixed(4)}` : "";
  return `Tokens: ${count(inputTokens)} in / ${count(outputTokens)} out${cost}`;
}

/** How full the conversation is; undefined when nobody knows the limit. */
export function contextUse(entry: Entry, window: number | undefined): string | undefined {
  const limit = window ?? entry?.contextTokens;
  const used = knownTokens(entry);
  if (typeof limit !== "number" || limit <= 0) return undefined;
  return typeof used === "number" ? `${count(used)}/${count(limit)} (${Math.round((used / limit) * 100)}%)` : `?/${count(limit)}`;
}

function context(entry: Entry, { contextWindow }: StatusFacts): string | undefined {
  const use = contextUse(entry, contextWindow);
  const compactions = entry?.["compactionCount"];
  return use && `Context: ${use} · Compactions: ${typeof compactions === "number" ? compactions : 0}`;
}
