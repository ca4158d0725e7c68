import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgents, type Agents, type AgentsDeps, type TurnEnd, type TurnEvent, type TurnInput, type TurnPorts } from "../../src/agent/index.ts";
import { manualClock, type ManualClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { seededRandom } from "../../src/base/random.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { createHooks, type Hooks } from "../../src/hooks/index.ts";
import type { CallEvent, CallRequest, ModelEntry, Models, Selection } from "../../src/models/index.ts";
import type { AssistantMessage, ModelMessage, ToolCallContent, Usage } from "../../src/protocol/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { createBroker, type Tool } from "../../src/tools/index.ts";

const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
export const USAGE: Usage = { input: 100, output: 10, cacheRead: 5, cacheWrite: 1, totalTokens: 116, cost: COST };

/** What the scripted model says to one call. */
export type Says =
  | string
  | { readonly text?: string; readonly calls?: readonly Call[]; readonly usage?: Usage; readonly stop?: "length" }
  | { readonly fails: "billing" | "context_overflow" | "image_size" | "timeout" | "unknown"; readonly text?: string }
  /** Says the text and then waits until it is aborted. */
  | { readonly hangs: string };
export interface Call {
  readonly name: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly id?: string;
}

export interface AgentFixtureOptions {
  readonly folder?: string;
  readonly says: readonly (Says | ((request: CallRequest) => Says))[];
  readonly tools?: readonly Tool[];
  readonly config?: OpenClawConfig;
  readonly contextWindow?: number;
  readonly seed?: number;
  readonly deps?: Partial<AgentsDeps>;
  readonly clock?: ManualClock;
}

/** Real agents, store, hooks and broker in a temporary folder; the model is a script. */
export interface AgentFixture extends AsyncDisposable {
  readonly folder: string;
  readonly store: Store;
  readonly clock: ManualClock;
  readonly hooks: Hooks;
  readonly agents: Agents;
  /** What the model was sent, call by call. */
  readonly requests: CallRequest[];
  readonly events: TurnEvent[];
  /** Puts a message into the inbox and runs its turn. */
  turn(message: string, over?: Partial<TurnInput>, ports?: Partial<TurnPorts>): Promise<TurnEnd>;
  accept(message: string, over?: Partial<TurnInput>): Promise<TurnInput>;
  ports(over?: Partial<TurnPorts>): TurnPorts;
  /** Messages of the session's transcript, in order. */
  transcript(key?: string): Promise<readonly (ModelMessage & Record<string, unknown>)[]>;
}

export const KEY = "agent:main:main";

const MODEL = {
  provider: "test",
  id: "script",
  name: "Script",
  api: "openai-responses",
  baseUrl: "",
  reasoning: false,
  input: ["text", "image"],
  cost: COST,
  contextWindow: 200_000,
  maxTokens: 8192,
  source: "builtin",
} as unknown as ModelEntry;

function selectionOf(tokens: number): Selection {
  return {
    ref: { provider: "test", id: "script" },
    entry: { ...MODEL, contextWindow: tokens },
    reason: { source: "defaults", text: "" },
    fallbacks: [],
    image: undefined,
    contextWindow: { tokens, source: "model", reference: tokens, verdict: "ok" },
    thinking: "off",
    params: undefined,
    warnings: [],
  } as unknown as Selection;
}

let calls = 0;

function contentOf(says: Says): AssistantMessage["content"] {
  if (typeof says === "string") return says === "" ? [] : [{ type: "text", text: says }];
  if (!("calls" in says) && !("text" in says)) return [];
  const text = "text" in says && says.text !== undefined ? [{ type: "text" as const, text: says.text }] : [];
  const asked = "calls" in says ? (says.calls ?? []) : [];
  return [...text, ...asked.map(({ name, args = {}, id }): ToolCallContent => ({ type: "toolCall", id: id ?? `call_${(calls += 1)}`, name, arguments: args }))];
}

async function* script(says: Says, { signal }: CallRequest, now: number): AsyncGenerator<CallEvent> {
  const facts = { role: "assistant", provider: "test", model: "script", api: "openai-responses", usage: USAGE, timestamp: now } as const;
  if (typeof says === "object" && "fails" in says) {
    const text = says.text ?? says.fails;
    const message: AssistantMessage = { ...facts, content: [], stopReason: "error", errorMessage: text };
    yield { type: "done", result: { ok: false, kind: says.fails, text, message, attempts: [] } };
    return;
  }
  if (typeof says === "object" && "hangs" in says) {
    yield { type: "text", index: 0, delta: says.hangs };
    if (!signal!.aborted) await new Promise((resolve) => signal!.addEventListener("abort", resolve, { once: true }));
    const message: AssistantMessage = { ...facts, content: [], stopReason: "aborted" };
    yield { type: "done", result: { ok: false, kind: "aborted", text: "aborted", message, attempts: [] } };
    return;
  }
  const content = contentOf(says);
  for (const part of content) if (part.type === "text") yield { type: "text", index: 0, delta: part.text };
  const usage = typeof says === "object" && says.usage ? says.usage : USAGE;
  const asked = typeof says === "object" && says.stop;
  const stopReason = asked || (content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop");
  yield { type: "done", result: { ok: true, message: { ...facts, usage, content, stopReason }, model: MODEL, attempts: [] } };
}

export async function openAgentFixture(options: AgentFixtureOptions): Promise<AgentFixture> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "agent-"));
  const clock = options.clock ?? manualClock();
  const ids = createIds(seededRandom(options.seed ?? 1));
  const store = await openStore({ stateDir: folder, clock });
  const hooks = createHooks({ clock, log: silentLogger });
  const config: OpenClawConfig = { agents: { defaults: { skipBootstrap: true } }, ...options.config };
  const waiting = [...options.says];
  const requests: CallRequest[] = [];
  const events: TurnEvent[] = [];
  const models = {
    select: () => Promise.resolve(selectionOf(options.contextWindow ?? 200_000)),
    call(_agentId: string, request: CallRequest) {
      requests.push({ ...request, messages: [...request.messages] });
      const next = waiting.shift() ?? "(the script is over)";
      return script(typeof next === "function" ? next(request) : next, request, clock.now());
    },
  };
  const broker = createBroker({
    clock,
    log: silentLogger,
    config: () => config,
    tools: () => options.tools ?? [],
    facts: () => ({ sandboxed: false }),
    hooks,
    askApproval: () => Promise.resolve("deny"),
  });
  const agents = createAgents({
    store,
    clock,
    ids,
    hooks,
    config: { current: config },
    log: silentLogger,
    env: {},
    stateDir: folder,
    models: () => Promise.resolve(models as unknown as Models),
    budgets: () => Promise.resolve({ check: () => Promise.resolve({ state: "ok" }) }),
    broker,
    workspaceOf: () => join(folder, "workspace"),
    host: {},
    timezone: "UTC",
    ...options.deps,
  });
  let runs = 0;

  async function accept(message: string, over: Partial<TurnInput> = {}): Promise<TurnInput> {
    const runId = over.runId ?? `run-${options.seed ?? 1}-${(runs += 1)}`;
    const input = { sessionKey: KEY, agentId: "main", channel: "webchat", owner: true, resumed: false, ...over, runId, message };
    const place = { channel: "gateway", account: "runs", conversation: "runs", messageId: runId, kind: "message", text: message };
    const { id } = await store.write("inbox.accept", { ...place, sessionKey: input.sessionKey, agentId: input.agentId });
    return { ...input, inboxIds: [id] };
  }
  const ports = (over: Partial<TurnPorts> = {}): TurnPorts => ({
    emit: (event) => events.push(event),
    signal: new AbortController().signal,
    stopping: new AbortController().signal,
    origin: () => "rpc",
    ...over,
  });

  return {
    folder,
    store,
    clock,
    hooks,
    agents,
    requests,
    events,
    accept,
    ports,
    async turn(message, over, given) {
      const end = await agents.turn(await accept(message, over), ports(given));
      if (!end || end === "given-up") throw new Error(`the turn had no end: ${end}`);
      return end;
    },
    async transcript(key = KEY) {
      const session = (await store.read("sessions.get", { key }))!;
      const files = await store.read("transcripts.ofSession", { agentId: session.agentId, sessionId: session.entry.sessionId });
      const rows = await store.read("transcripts.path", { file: files.find(({ archivedAt }) => archivedAt === null)!.file });
      return rows.flatMap(({ line }) => ((JSON.parse(line) as { message?: ModelMessage & Record<string, unknown> }).message ?? []) as never[]);
    },
    async [Symbol.asyncDispose]() {
      hooks[Symbol.dispose]();
      await store[Symbol.asyncDispose]();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The text of a message. */
export function said({ content }: { readonly content: unknown }): string {
  if (typeof content === "string") return content;
  return (content as readonly { readonly text?: string; readonly type: string }[]).map((part) => part.text ?? part.type).join("|");
}
