import { join } from "node:path";
import { createAgents, type Agents, type AgentsDeps } from "../../src/agent/index.ts";
import type { Clock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import type { CallEvent, CallRequest, ModelEntry, Models, Selection } from "../../src/models/index.ts";
import type { AssistantMessage, ModelMessage } from "../../src/protocol/index.ts";
import type { Toolbox } from "../../src/tools/index.ts";

/** What the echo says to a message, and how fast. */
export interface Answer {
  /** In order; joined they are the whole text. */
  readonly pieces: readonly string[];
  /** Time between two pieces. */
  readonly gapMs: number;
}

const MAX_PIECES = 10_000;
const MAX_GAP_MS = 60_000;
const SETTING = /@(chunks|gap)=(\d{1,9})(?=\s|$)/g;

/**
 * The message itself. `@chunks=N` and `@gap=MS` are taken out of it and steer the stream: the text is the first of N pieces, numbered words are the
 * others, and MS passes between two.
 */
export function answerTo(message: string): Answer {
  const settings = new Map([...message.matchAll(SETTING)].map(([, name, value]) => [name!, Number(value)]));
  const text = settings.size === 0 ? message : message.replace(SETTING, "").replaceAll(/ {2,}/g, " ").trim();
  const count = Math.min(Math.max(settings.get("chunks") ?? 1, 1), MAX_PIECES);
  const pieces = Array.from({ length: count }, (_, index) => (index === 0 ? text : ` w${index}`));
  return { pieces, gapMs: Math.min(settings.get("gap") ?? 0, MAX_GAP_MS) };
}

const USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };

/** Resolves after `ms`, or as soon as the signal fires. */
function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = (): void => resolve();
  const timer = clock.after(ms, wake);
  signal.addEventListener("abort", wake);
  return promise.finally(() => {
    timer[Symbol.dispose]();
    signal.removeEventListener("abort", wake);
  });
}

const MODEL: ModelEntry = {
  provider: "test",
  id: "echo",
  name: "Echo",
  api: "openai-responses",
  baseUrl: "",
  reasoning: false,
  input: ["text", "image"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 200_000,
  maxTokens: 8192,
  source: "builtin",
} as unknown as ModelEntry;

const SELECTION = {
  ref: { provider: "test", id: "echo" },
  entry: MODEL,
  reason: { source: "defaults", text: "" },
  fallbacks: [],
  image: undefined,
  contextWindow: { tokens: 200_000, source: "model", reference: 200_000, verdict: "ok" },
  thinking: "off",
  params: undefined,
  warnings: [],
} as unknown as Selection;

function lastSaid(messages: readonly ModelMessage[]): string {
  const last = messages.at(-1);
  if (!last || last.role !== "user") return "";
  return typeof last.content === "string" ? last.content : last.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** Repeats what it is sent: an answer that a test knows beforehand. */
async function* echo(
  clock: Clock,
  says: (heard: string) => string,
  { messages, signal = new AbortController().signal }: CallRequest,
): AsyncGenerator<CallEvent> {
  const { pieces, gapMs } = answerTo(says(lastSaid(messages)));
  let text = "";
  for (const [index, delta] of pieces.entries()) {
    if (index > 0 && gapMs > 0) await pause(gapMs, clock, signal);
    if (signal.aborted) break;
    text += delta;
    yield { type: "text", index: 0, delta };
  }
  const { provider, id, api } = MODEL;
  const facts = { role: "assistant", api, provider, model: id, usage: USAGE, timestamp: clock.now() } as const;
  const message: AssistantMessage = { ...facts, content: text === "" ? [] : [{ type: "text", text }], stopReason: signal.aborted ? "aborted" : "stop" };
  if (signal.aborted) yield { type: "done", result: { ok: false, kind: "aborted", text: "aborted", message, attempts: [] } };
  else yield { type: "done", result: { ok: true, message, model: MODEL, attempts: [] } };
}

export interface EchoDeps extends Pick<AgentsDeps, "store" | "clock" | "ids"> {
  readonly folder: string;
  readonly config?: AgentsDeps["config"];
  /** Of the model alone, when it is another one. */
  readonly modelClock?: Clock;
  readonly hooks?: AgentsDeps["hooks"];
  /** What it says to what it hears, instead of the same. */
  readonly says?: (heard: string) => string;
  /** Called with each request to the model. */
  readonly heard?: (request: CallRequest) => void;
}

/** Real agents on real modules, without tools, whose model says what it hears. */
export function echoAgents({ folder, modelClock, says = (text) => text, heard, ...deps }: EchoDeps): () => Promise<Agents> {
  const models = {
    select: () => Promise.resolve(SELECTION),
    call(_agentId: string, request: CallRequest) {
      heard?.(request);
      return echo(modelClock ?? deps.clock, says, request);
    },
  };
  const toolbox: Toolbox = {
    schemas: [],
    verdicts: [],
    isIdempotent: () => false,
    isParallel: () => false,
    run: () => Promise.resolve({ content: [], isError: true }),
  };
  const agents = createAgents({
    config: { current: { agents: { defaults: { skipBootstrap: true } } } },
    hooks: { has: () => false, run: () => undefined },
    ...deps,
    log: silentLogger,
    env: {},
    models: () => Promise.resolve(models as unknown as Models),
    budgets: () => Promise.resolve({ check: () => Promise.resolve({ state: "ok" }) }),
    broker: { open: () => Promise.resolve(toolbox) },
    workspaceOf: () => join(folder, "workspace"),
    stateDir: folder,
    host: {},
    timezone: "UTC",
  });
  return () => Promise.resolve(agents);
}
