/** Settings that are one word: shown, refused or stored. */
import type { ThinkingLevel } from "../../../protocol/index.ts";
import { reasoningLevel, thinkingLevel, verboseLevel } from "../../../sessions/index.ts";
import { heldElevated, sessionChoice } from "../../../tools/index.ts";
import type { Handling } from "../handling.ts";
import type { Directives } from "../parsing/directives.ts";
import { choiceUse, judged, refused } from "./exec-and-queue.ts";

type Wish<K extends "think" | "verbose" | "reasoning" | "elevated"> = NonNullable<Directives[K]>;

const unknown = (what: string, word: string, choices: readonly string[]): string => `Invalid ${what} "${word}". Choose ${choices.join(", ")}.`;
const shown = (what: string, now: string, choices: readonly string[]): string => `${what}: ${now}. Choose ${choices.join(", ")}.`;

export async function think({ ports, call, key }: Handling, { value, word }: Wish<"think">): Promise<string> {
  const ref = await ports.models.current(key, call.agentId);
  const levels = await ports.models.levels(ref);
  if (word !== undefined) return unknown("thinking level", word, levels);
  if (value === undefined) {
    const entry = await ports.session.read(key);
    const { thinkingDefault = "off" } = await ports.status.facts(key, call.agentId);
    return shown("Thinking", thinkingLevel(ports.config.current(), entry, { modelDefault: thinkingDefault }).value, levels);
  }
  const level = levelFor(value, levels);
  if (level === undefined) return `${ref.provider}/${ref.id} does not support the thinking level ${value}. Choose ${levels.join(", ")}.`;
  await ports.session.patch(key, call.agentId, { thinkingLevel: level });
  return level === "off" ? "Thinking is off." : `Thinking: ${level}.`;
}

/** Models that only know whether to think do so at any level. */
export function levelFor(wanted: ThinkingLevel, levels: readonly ThinkingLevel[]): ThinkingLevel | undefined {
  if (levels.includes(wanted)) return wanted;
  return levels.length === 2 && wanted !== "off" ? levels.find((level) => level !== "off") : undefined;
}

export async function verbose({ ports, call, key }: Handling, { value, word }: Wish<"verbose">): Promise<string> {
  const choices = ["on", "full", "off"];
  if (word !== undefined) return unknown("verbose level", word, choices);
  if (value === undefined) return shown("Verbose", verboseLevel(ports.config.current(), await ports.session.read(key)).value, choices);
  await ports.session.patch(key, call.agentId, { verboseLevel: value });
  return { off: "Verbose is off.", on: "Verbose: each tool is shown when it starts.", full: "Verbose: tools are shown with their output." }[value];
}

export async function reasoning({ ports, call, key }: Handling, { value, word }: Wish<"reasoning">): Promise<string> {
  const choices = ["on", "off", "stream"];
  if (word !== undefined) return unknown("reasoning level", word, choices);
  const now = reasoningLevel(await ports.session.read(key)).value;
  if (value === undefined) return shown("Reasoning", now, choices);
  await ports.session.patch(key, call.agentId, { reasoningLevel: value === "off" ? null : value });
  if (value !== now) await ports.systemEvent?.(key, `Reasoning is now ${value === "off" ? "hidden" : value === "on" ? "shown" : "streamed"}.`);
  return { off: "Reasoning is hidden.", on: "Reasoning is shown as a separate message.", stream: "Reasoning is streamed where the platform supports it." }[
    value
  ];
}

export async function elevated({ ports, call, key }: Handling, { value, word }: Wish<"elevated">): Promise<string> {
  const choices = ["on", "off", "ask", "full"];
  const gate = ports.elevation(call);
  // Who may not leave the sandbox may still say that nobody shall.
  if (!gate.permitted && value !== "off") return ["Elevated is not available here:", ...gate.reasons.map((reason) => `- ${reason}`)].join("\n");
  if (word !== undefined) return unknown("elevated level", word, choices);
  const now = heldElevated(sessionChoice(await ports.session.read(key)), choiceUse({ ports, call, key }));
  if (value === undefined) return shown("Elevated", now, choices);
  const verdict = await judged("elevated", { ports, call, key }, { elevatedLevel: value });
  if (verdict.kind !== "allowed") return refused(verdict, { ports, call });
  await ports.session.patch(key, call.agentId, verdict.patch);
  if (value !== now) await ports.systemEvent?.(key, `Elevated is now ${value}.`);
  const { runtime } = await ports.status.facts(key, call.agentId);
  const text = {
    off: "Elevated is off: commands stay in the sandbox.",
    on: "Elevated: commands run on the host, approvals apply.",
    ask: "Elevated: commands run on the host, approvals apply.",
    full: "Elevated: commands run on the host without approvals, as far as tools.exec and the approvals file allow.",
  }[value];
  return runtime === "direct" && value !== "off" ? `${text} This session is not sandboxed, so this has little effect.` : text;
}
