/** When and how often the typing sign is shown. */
import { sectionOf } from "../../../channels/index.ts";
import type { ChatType, HostConfig } from "../../../protocol/index.ts";

export type TypingMode = "never" | "instant" | "thinking" | "message";

export interface TypingPlace {
  readonly chatType: ChatType;
  readonly wasMentioned: boolean;
  readonly isHeartbeat: boolean;
}

const isMode = (value: unknown): value is TypingMode => value === "never" || value === "instant" || value === "thinking" || value === "message";

/** `session.typingMode` over the agents' default; else at once where we were spoken to, and with the first word elsewhere. Never for heartbeats. */
export function typingMode(cfg: HostConfig, { chatType, wasMentioned, isHeartbeat }: TypingPlace): TypingMode {
  if (isHeartbeat) return "never";
  const said = [sectionOf(cfg.session)?.["typingMode"], cfg.agents?.defaults?.["typingMode"]].find(isMode);
  return said ?? (chatType === "direct" || wasMentioned ? "instant" : "message");
}

const DEFAULT_MS = 6000;

/** Here the agents' default goes before `session`. A channel knows best where nobody says anything. */
export function typingIntervalMs(cfg: HostConfig, channelMs?: number): number {
  const said = [cfg.agents?.defaults?.["typingIntervalSeconds"], sectionOf(cfg.session)?.["typingIntervalSeconds"]].find(
    (value): value is number => typeof value === "number" && value > 0,
  );
  return said === undefined ? (channelMs ?? DEFAULT_MS) : said * 1000;
}
