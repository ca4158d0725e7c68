import type { TurnInjection } from "../../hooks/index.ts";
import type { ModelMessage, UserMessage } from "../../protocol/index.ts";
import type { InjectionRow } from "../../store/index.ts";
import type { TurnDeps } from "./deps.ts";
import type { AgentContext } from "./hook-context.ts";
import type { TurnInput } from "./input.ts";
import type { Injections } from "./place.ts";

/** What hooks and injections made of a turn's prompt. */
export interface TurnPrompt {
  /** What the user said, after lines of the system. */
  readonly text: string;
  /** What plugins put before and behind it: parts of their own, so that it is never taken for the user's words. */
  readonly before: string;
  readonly after: string;
  readonly systemPrompt: string;
  /** Only these tools in this turn. */
  readonly toolsAllow?: readonly string[];
  /** Of the old hook that may also choose a model. */
  readonly override?: { readonly providerOverride?: string; readonly modelOverride?: string };
}

interface Around {
  readonly prependContext?: string;
  readonly appendContext?: string;
}

interface BuildResult extends Around {
  readonly systemPrompt?: string;
  readonly prependSystemContext?: string;
  readonly appendSystemContext?: string;
  readonly toolsAllow?: string[];
  readonly providerOverride?: string;
  readonly modelOverride?: string;
}

const SYSTEM_EVENT = "system-event";

/** Runs what may shape the prompt, in its order: `agent_turn_prepare`, `before_prompt_build`, `before_agent_start`. */
export async function shapePrompt(
  deps: TurnDeps,
  input: TurnInput,
  turn: {
    readonly context: AgentContext;
    readonly messages: readonly ModelMessage[];
    readonly systemPrompt: string;
    readonly injections: Injections;
    /** Tokens the model can see. */
    readonly window: number;
  },
): Promise<TurnPrompt> {
  const { hooks } = deps;
  const { context, injections } = turn;
  const prompt = input.message;
  const messages = [...turn.messages] as unknown[];
  const waiting = injections.filter(({ placement }) => placement !== SYSTEM_EVENT);
  const around: Around[] = waiting.map(injected);
  if (hooks.has("agent_turn_prepare")) {
    around.push((await hooks.run("agent_turn_prepare", { prompt, messages, injections: waiting.map(injectionFact) }, context.agent())) ?? {});
  }
  const built: BuildResult[] = [];
  if (hooks.has("before_prompt_build")) {
    built.push((await hooks.run("before_prompt_build", { prompt, messages, currentUserMessage: prompt }, context.agent())) ?? {});
  }
  if (hooks.has("before_agent_start")) {
    built.push((await hooks.run("before_agent_start", { prompt, messages, runId: input.runId }, context.agent())) ?? {});
  }
  const last = built.at(-1);
  const override = last && (last.modelOverride !== undefined || last.providerOverride !== undefined) ? overrideOf(last) : undefined;
  const toolsAllow = built.map((result) => result.toolsAllow).findLast((names) => names !== undefined);
  const all = [...around, ...built];
  const limit = Math.min(CONTEXT_CHARS, turn.window);
  const bounded = (where: string, texts: readonly (string | undefined)[]): string => boundedContext(deps, where, filled(texts).join("\n\n"), limit);
  const events = systemEvents(deps, injections, input.events);
  return {
    before: bounded(
      "before the message",
      all.map(({ prependContext }) => prependContext),
    ),
    text: events.length === 0 ? prompt : `${events.join("\n")}\n\n${prompt}`,
    after: bounded(
      "behind the message",
      all.map(({ appendContext }) => appendContext),
    ),
    systemPrompt: systemText(turn.systemPrompt, built, bounded),
    ...(toolsAllow === undefined ? {} : { toolsAllow }),
    ...(override ? { override } : {}),
  };
}

const filled = (texts: readonly (string | undefined)[]): readonly string[] =>
  texts.filter((text): text is string => typeof text === "string" && text.trim() !== "");

/** Most characters of what plugins put at one place; never more than a quarter of what the model can see, counting four for a token. */
const CONTEXT_CHARS = 32_000;

/** What plugins add must not push out the conversation itself. */
function boundedContext({ log }: TurnDeps, where: string, text: string, limit: number): string {
  if (text.length <= limit) return text;
  log.warn(`plugins put ${text.length} characters ${where}: the first ${limit} are used`);
  return `${text.slice(0, limit).toWellFormed()}\n[${text.length - limit} more characters of plugins were left out]`;
}

function systemText(own: string, built: readonly BuildResult[], bounded: (where: string, texts: readonly (string | undefined)[]) => string): string {
  const replaced = filled(built.map(({ systemPrompt }) => systemPrompt)).at(-1);
  const before = bounded(
    "before the system prompt",
    built.map(({ prependSystemContext }) => prependSystemContext),
  );
  const after = bounded(
    "behind the system prompt",
    built.map(({ appendSystemContext }) => appendSystemContext),
  );
  return filled([before, replaced ?? own, after]).join("\n\n");
}

function injected({ placement, text }: InjectionRow): Around {
  return placement === "append_context" ? { appendContext: text } : { prependContext: text };
}

function injectionFact({ pluginId, text, placement, payload }: InjectionRow): TurnInjection {
  const metadata = typeof payload === "object" && payload !== null && !Array.isArray(payload) ? { metadata: payload as Record<string, unknown> } : {};
  return { pluginId, text, placement, ...metadata };
}

/** Lines of the system, the oldest first. There is no empty line in them: the first one ends them, so that they can be told from the message. */
function systemEvents({ config, timezone }: TurnDeps, injections: Injections, own: TurnInput["events"] = []): readonly string[] {
  const queued = injections.filter(({ placement }) => placement === SYSTEM_EVENT).map(({ text, createdAt }) => ({ text, at: createdAt }));
  const events = [...queued, ...own];
  if (events.length === 0) return [];
  const zone = eventZone(config.current.agents?.defaults, timezone);
  return events.map(({ text, at }) => `System: [${stamp(at, zone)}] ${text.trim().replaceAll(/\n\s*\n/g, "\n")}`);
}

function eventZone(
  defaults: { readonly envelopeTimezone?: string | undefined; readonly userTimezone?: string | undefined } | undefined,
  machine: string,
): string {
  const asked = defaults?.envelopeTimezone?.trim() ?? "local";
  if (asked.toLowerCase() === "utc") return "UTC";
  if (asked.toLowerCase() === "user") return defaults?.userTimezone?.trim() || machine;
  return asked === "" || asked.toLowerCase() === "local" ? machine : asked;
}

/** `2026-01-05 16:26:03 UTC`; in UTC when there is no such zone. */
function stamp(at: number, timeZone: string): string {
  try {
    const parts = new Intl.DateTimeFormat("en-CA", {
      timeZone,
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hourCycle: "h23",
      timeZoneName: "short",
    }).formatToParts(at);
    const part = (type: string): string => parts.find((found) => found.type === type)?.value ?? "";
    return `${part("year")}-${part("month")}-${part("day")} ${part("hour")}:${part("minute")}:${part("second")} ${part("timeZoneName")}`;
  } catch {
    return stamp(at, "UTC");
  }
}

function overrideOf({ providerOverride, modelOverride }: BuildResult): TurnPrompt["override"] & {} {
  return { ...(providerOverride === undefined ? {} : { providerOverride }), ...(modelOverride === undefined ? {} : { modelOverride }) };
}

/** The message as it stands in the conversation. */
export function userMessage(
  input: TurnInput,
  { text, before = "", after = "" }: Pick<TurnPrompt, "text"> & Partial<TurnPrompt>,
  timestamp: number,
): UserMessage {
  const context = (added: string) => (added === "" ? [] : [{ type: "text", text: added, openclawContext: true } as const]);
  return { role: "user", content: [...context(before), { type: "text", text }, ...context(after), ...(input.images ?? [])], timestamp };
}
