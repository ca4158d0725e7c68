/** Words that people use for a setting, and the value each stands for. */
import type { ThinkingLevel } from "../../../protocol/index.ts";
import type { ElevatedLevel, QueueMode, ReasoningLevel, UsageFooter, VerboseLevel } from "../../../sessions/index.ts";

type Words<T extends string> = Readonly<Record<T, string>>;

/** The value that a word stands for; undefined when it stands for none. */
function reader<T extends string>(words: Words<T>): (word: string) => T | undefined {
  const values = new Map(Object.entries<string>(words).flatMap(([value, others]) => [value, ...others.split(" ")].map((word) => [word, value as T] as const)));
  return (word) => values.get(word.trim().toLowerCase());
}

const NO = "false no 0 disable disabled";
const YES = "true yes 1 enable enabled";

export const readThinking = reader<ThinkingLevel>({
  off: "none disable",
  minimal: "min think",
  low: "on enable think-hard think_hard thinkhard",
  medium: "mid med harder think-harder think_harder thinkharder",
  high: "ultra ultrathink highest max",
  xhigh: "x-high x_high extra-high extra_high extrahigh",
});
export const readVerbose = reader<VerboseLevel>({ off: NO, on: `${YES} minimal`, full: "all everything" });
export const readReasoning = reader<ReasoningLevel>({ off: `${NO} hide hidden`, on: `${YES} show visible`, stream: "streaming draft live" });
export const readElevated = reader<ElevatedLevel>({ off: NO, on: YES, ask: "prompt approve approval", full: "auto auto-approve auto_approve autoapprove" });
export const readUsage = reader<UsageFooter>({ off: NO, tokens: `on ${YES} token tok min minimal`, full: "session" });
export const readQueueMode = reader<QueueMode>({
  steer: "queue queued",
  followup: "follow-up follow-ups followups",
  collect: "coalesce",
  "steer-backlog": "steer+backlog steer_backlog",
  interrupt: "interrupts abort",
});
export const readQueueDrop = reader<"old" | "new" | "summarize">({ old: "oldest", new: "newest", summarize: "summary summarise" });
export const readSend = reader<"allow" | "deny" | "inherit">({ allow: "on", deny: "off", inherit: "default reset" });
export const readActivation = reader<"mention" | "always">({ mention: "mentions", always: "all" });
export const readDecision = reader<"allow-once" | "allow-always" | "deny">({
  "allow-once": "allow once allowonce",
  "allow-always": "always allowalways",
  deny: "denied reject block no",
});
