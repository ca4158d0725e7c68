import type { Clock } from "../base/clock.ts";
import type { CallEvent, CallRequest, ModelEntry, Models, Selection, LazyModels } from "../models/index.ts";
import type { AssistantMessage, ToolCallContent, Usage } from "../protocol/index.ts";
import type { ModelCall, TestAnswer } from "./types.ts";

const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const USAGE: Usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: COST };
const WINDOW = 200_000;
const OVER = "(the script has no more answers)";

const MODEL: ModelEntry = {
  provider: "test",
  id: "script",
  name: "Script",
  api: "openai-responses",
  baseUrl: "",
  reasoning: false,
  input: ["text", "image"],
  cost: COST,
  contextWindow: WINDOW,
  maxTokens: 8192,
  source: "builtin",
};

const SELECTION: Selection = {
  ref: { provider: "test", id: "script" },
  entry: MODEL,
  reason: { source: "defaults", text: "" },
  fallbacks: [],
  image: undefined,
  contextWindow: { tokens: WINDOW, source: "model", reference: WINDOW, rating: "ok" },
  thinking: "off",
  params: undefined,
  paramsOf: () => undefined,
  warnings: [],
};

/** A model that gives the scripted answers. */
export interface ScriptedModel {
  readonly models: Pick<LazyModels, "models" | "budgets">;
  /** Answers to the next calls, after those that wait. */
  add(answers: readonly TestAnswer[]): void;
  readonly calls: readonly ModelCall[];
}

const partsOf = (answer: Exclude<TestAnswer, { error: string }>, nextId: () => string): AssistantMessage["content"] => {
  const { text, tools = [] } = typeof answer === "string" ? { text: answer } : answer;
  const calls = tools.map(({ name, params = {} }): ToolCallContent => ({ type: "toolCall", id: nextId(), name, arguments: structuredClone(params) }));
  return [...(text === undefined || text === "" ? [] : [{ type: "text" as const, text }]), ...calls];
};

async function* say(answer: TestAnswer, now: number, nextId: () => string, signal: AbortSignal | undefined): AsyncGenerator<CallEvent> {
  const facts = { role: "assistant", provider: "test", model: "script", api: "openai-responses", usage: USAGE, timestamp: now } as const;
  if (signal?.aborted) {
    const message: AssistantMessage = { ...facts, content: [], stopReason: "aborted" };
    yield { type: "done", result: { ok: false, kind: "aborted", text: "aborted", message, attempts: [] } };
    return;
  }
  if (typeof answer === "object" && "error" in answer) {
    const message: AssistantMessage = { ...facts, content: [], stopReason: "error", errorMessage: answer.error };
    yield { type: "done", result: { ok: false, kind: "unknown", text: answer.error, message, attempts: [] } };
    return;
  }
  const content = partsOf(answer, nextId);
  for (const part of content) if (part.type === "text") yield { type: "text", index: 0, delta: part.text };
  const stopReason = content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop";
  yield { type: "done", result: { ok: true, message: { ...facts, content, stopReason }, model: MODEL, attempts: [] } };
}

export function createScriptedModel(clock: Clock): ScriptedModel {
  const waiting: TestAnswer[] = [];
  const calls: ModelCall[] = [];
  let count = 0;
  const nextId = (): string => `call_${(count += 1)}`;
  const models = {
    select: () => Promise.resolve(SELECTION),
    call(_agentId: string, { systemPrompt, messages, tools = [], signal }: CallRequest) {
      calls.push({ system: systemPrompt ?? "", messages: structuredClone([...messages]), tools: tools.map(({ name }) => name) });
      return say(waiting.shift() ?? OVER, clock.now(), nextId, signal);
    },
  };
  return {
    models: {
      models: () => Promise.resolve(models as unknown as Models),
      budgets: (() => Promise.resolve({ check: () => Promise.resolve({ state: "ok" }) })) as unknown as LazyModels["budgets"],
    },
    add: (answers) => void waiting.push(...answers),
    calls,
  };
}
