import type { EventPayload } from "openclaw/client";
import { createSignal } from "../../../base/signal.ts";
import type { LinkState } from "../../../link/link.ts";
import type { ConversationOptions } from "./conversation.ts";
import type { Platform } from "./platform.ts";
import type { ChatEntry } from "./state.ts";

type Link = ConversationOptions["link"];
type Body = Omit<ChatEntry, "seq" | "ts">;

export const said = (kind: "user" | "assistant", text: string, extra: Partial<Body> = {}): Body => ({ kind, content: [{ type: "text", text }], ...extra });

export function memoryStorage(): Storage {
  const kept = new Map<string, string>();
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
    key: (at) => [...kept.keys()][at] ?? null,
    clear: () => kept.clear(),
    get length() {
      return kept.size;
    },
  };
}

/** Frames come at once; waits do not end: what is waited for comes from the gateway. */
export function testPlatform(name: string): Platform {
  let count = 0;
  const start = Math.random().toString(36).slice(2);
  return { now: () => 1, id: () => `${name}-${start}-${(count += 1)}`, nextFrame: (work) => queueMicrotask(work), wait: () => undefined };
}

/** Lets everything that is under way come to its end. */
export async function settled(): Promise<void> {
  for (let turns = 0; turns < 60; turns += 1) await Promise.resolve();
}

interface Run {
  readonly runId: string;
  text: string;
  call?: string;
  calls: number;
}

interface Waiting {
  readonly runId: string;
  readonly text: string;
}

interface Connection {
  readonly state: ReturnType<typeof createSignal<LinkState>>;
  readonly listeners: Map<string, Set<(payload: never) => void>>;
  readonly fresh: Set<() => void>;
  /** Answers on their way; they fail when the connection does. */
  readonly open: Set<(error: unknown) => void>;
  losing: boolean;
  watching: boolean;
}

const refusal = (message: string): Error => Object.assign(new Error(message), { details: { protocolCode: "INVALID_REQUEST" } });

const KEY = "agent:main:main";

const newConnection = (): Connection => ({
  state: createSignal<LinkState>({ kind: "open" }),
  listeners: new Map(),
  fresh: new Set(),
  open: new Set(),
  losing: false,
  watching: false,
});

/** A gateway in memory that keeps its promises: what it accepted waits or stands in the transcript, events and answers come in the order in which they were sent. */
export class FakeGateway {
  /** Texts of messages, in the order in which they were accepted. */
  readonly accepted: string[] = [];
  private readonly pages: boolean;
  private entries: ChatEntry[] = [];
  private session = 1;
  private pending: Waiting[] = [];
  private reason: string | undefined;
  private readonly known = new Set<string>();
  private readonly runs = new Map<string, Run>();
  private readonly connections = new Map<string, Connection>();
  private count = 0;

  constructor(first: readonly Body[], pages: boolean) {
    this.pages = pages;
    for (const body of first) this.entries.push({ ...body, seq: this.entries.length + 1, ts: 1 });
  }

  private emit(event: string, payload: object): void {
    for (const { state, losing, watching, listeners } of this.connections.values()) {
      if (state.value.kind !== "open" || losing || (event === "chat.changed" && !watching)) continue;
      for (const listener of new Set(listeners.get(event))) listener(payload as never);
    }
  }

  private changed(): void {
    this.emit("chat.changed", { sessionKey: KEY, last: this.entries.length, pending: this.pending.length, runs: this.runs.size });
  }

  private agent(runId: string, stream: string, data: object): void {
    const payload = { runId, sessionKey: KEY, seq: (this.count += 1), ts: 1, stream, data } satisfies Record<keyof EventPayload<"agent">, unknown>;
    this.emit("agent", payload);
  }

  append(...bodies: readonly Body[]): void {
    for (const body of bodies) this.entries.push({ ...body, seq: this.entries.length + 1, ts: 1 });
    this.changed();
  }

  private page({ before, after, limit = 60 }: { before?: number; after?: number; limit?: number }): object {
    const fits = this.entries.filter(({ seq }) => seq < (before ?? Number.POSITIVE_INFINITY) && seq > (after ?? 0));
    const chosen = after === undefined ? fits.slice(-limit) : fits.slice(0, limit);
    return {
      sessionKey: KEY,
      sessionId: `session-${this.session}`,
      began: this.session,
      entries: chosen,
      more: chosen.length < fits.length,
      last: this.entries.length,
      pending: this.pending.map(({ runId, text }) => ({ runId, text, ts: 1, images: 0 })),
      runs: [...this.runs.values()].map(({ runId, text, call }) => ({
        runId,
        startedAt: 1,
        text,
        tools: call === undefined ? [] : [{ toolCallId: call, name: "exec" }],
      })),
    };
  }

  private answer(connection: Connection, method: string, params: Record<string, unknown>): object {
    if (method === "chat.page") return this.page(params);
    if (method === "chat.history") {
      const messages = this.entries.map(({ kind, content, ts }) => ({ role: kind, content, timestamp: ts }));
      return { sessionKey: KEY, sessionId: `session-${this.session}`, messages };
    }
    if (method === "chat.watch") connection.watching = params["on"] !== false;
    if (method !== "chat.send") return { ok: true };
    if (this.reason !== undefined) throw refusal(this.reason);
    const runId = String(params["idempotencyKey"]);
    if (this.known.has(runId)) return { runId, status: "in_flight" };
    this.known.add(runId);
    this.accepted.push(String(params["message"]));
    this.pending.push({ runId, text: String(params["message"]) });
    this.changed();
    return { runId, status: "started" };
  }

  /** The question arrives a moment after it was asked, the answer another one after that. */
  private ask(connection: Connection, method: string, params: Record<string, unknown>): Promise<object> {
    if (connection.state.value.kind !== "open") return Promise.reject(new Error("not connected"));
    const { promise, resolve, reject } = Promise.withResolvers<object>();
    connection.open.add(reject);
    queueMicrotask(() => {
      if (!connection.open.has(reject)) return;
      try {
        const result = structuredClone(this.answer(connection, method, params));
        queueMicrotask(() => {
          if (!connection.losing && connection.open.delete(reject)) resolve(result);
        });
      } catch (error) {
        connection.open.delete(reject);
        reject(error);
      }
    });
    return promise;
  }

  link(name: string): Link {
    const connection = this.at(name);
    return {
      state: connection.state,
      hello: undefined,
      has: (method) => this.pages || !(method === "chat.page" || method === "chat.watch"),
      request: ((method: string, params: Record<string, unknown>) => this.ask(connection, method, params)) as Link["request"],
      on(event, listener) {
        const all = connection.listeners.get(event) ?? new Set();
        connection.listeners.set(event, all.add(listener));
        return { [Symbol.dispose]: () => void all.delete(listener) };
      },
      onFresh(listener) {
        connection.fresh.add(listener);
        return { [Symbol.dispose]: () => void connection.fresh.delete(listener) };
      },
    };
  }

  private at(name: string): Connection {
    const connection = this.connections.get(name) ?? newConnection();
    this.connections.set(name, connection);
    return connection;
  }

  /** The connection is lost, with every answer on its way. */
  cut(name: string): void {
    const connection = this.at(name);
    connection.watching = false;
    connection.losing = false;
    connection.state.set({ kind: "lost", message: "gone", retryAt: undefined });
    const lost = new Set(connection.open);
    connection.open.clear();
    for (const reject of lost) reject(new Error("the connection was lost"));
  }

  join(name: string): void {
    const connection = this.at(name);
    if (connection.losing) this.cut(name);
    if (connection.state.value.kind === "open") return;
    connection.state.set({ kind: "open" });
    for (const listener of new Set(connection.fresh)) listener();
  }

  /** From now on nothing arrives at the page, though what it sends does. */
  loseAnswers(name: string): void {
    this.at(name).losing = true;
  }

  refuse(why: string | undefined): void {
    this.reason = why;
  }

  begin(runId: string, { silently = false } = {}): void {
    const waiting = this.pending.find((one) => one.runId === runId);
    this.runs.set(runId, { runId, text: "", calls: 0 });
    this.pending = this.pending.filter((one) => one !== waiting);
    this.agent(runId, "lifecycle", { phase: "start", startedAt: 1 });
    if (waiting && !silently) this.append(said("user", waiting.text, { runId }));
    this.changed();
  }

  say(runId: string, text: string): void {
    const run = this.runs.get(runId)!;
    this.agent(runId, "assistant", { text, delta: text.slice(run.text.length) });
    run.text = text;
  }

  private end(runId: string, data: object, state: string, errorMessage?: string): void {
    this.runs.delete(runId);
    this.agent(runId, "lifecycle", data);
    this.emit("chat", { runId, sessionKey: KEY, seq: (this.count += 1), state, ...(errorMessage === undefined ? {} : { errorMessage }) });
    this.changed();
  }

  finish(runId: string, text: string | undefined): void {
    if (text !== undefined) {
      this.say(runId, text);
      this.runs.get(runId)!.text = "";
      this.append(said("assistant", text, { runId }));
    }
    this.end(runId, { phase: "end", endedAt: 2 }, "final");
  }

  fail(runId: string, error: string): void {
    this.end(runId, { phase: "error", error, endedAt: 2 }, "error", error);
  }

  private call(run: Run): void {
    run.calls += 1;
    const id = `${run.runId}-call-${run.calls}`;
    const { text } = run;
    run.text = "";
    run.call = id;
    const words = text === "" ? [] : [{ type: "text", text }];
    this.append({ kind: "assistant", runId: run.runId, content: [...words, { type: "toolCall", id, name: "exec", arguments: {} }] });
    this.agent(run.runId, "tool", { phase: "start", name: "exec", toolCallId: id, args: {} });
  }

  private result(run: Run): void {
    const id = run.call!;
    delete run.call;
    this.agent(run.runId, "tool", { phase: "result", name: "exec", toolCallId: id, isError: false });
    this.append({ kind: "tool", toolCallId: id, toolName: "exec", runId: run.runId, content: [{ type: "text", text: "done" }] });
  }

  private grown(run: Run, by: string): string {
    return `${run.text === "" ? `answer ${(this.count += 1)}` : run.text} ${by}`;
  }

  /** Does one thing of its own accord. False when there was nothing to do. */
  act(name: string): boolean {
    const run = this.runs.values().next().value;
    const [next] = this.pending;
    const { state, fresh } = this.at("tab");
    if (name === "cut") this.cut("tab");
    else if (name === "join") this.join("tab");
    else if (name === "lose") this.loseAnswers("tab");
    else if (name === "gap" && state.value.kind === "open") for (const listener of new Set(fresh)) listener();
    else if (name === "inject") this.append(said("assistant", `note ${(this.count += 1)}`));
    else if (name === "begin" && next && !run) this.begin(next.runId);
    else if (name === "say" && run && run.call === undefined) this.say(run.runId, this.grown(run, "more"));
    else if (name === "call" && run && run.call === undefined) this.call(run);
    else if (name === "result" && run?.call !== undefined) this.result(run);
    else if (name === "finish") return this.settle(run, next);
    else return false;
    return true;
  }

  /** Ends the run under way, or begins the next one. */
  private settle(run: Run | undefined, next: Waiting | undefined): boolean {
    if (run?.call !== undefined) this.result(run);
    if (run) this.finish(run.runId, this.grown(run, "end"));
    else if (next) this.begin(next.runId);
    return run !== undefined || next !== undefined;
  }

  reset(): void {
    this.entries = [];
    this.session += 1;
    this.changed();
  }

  last(): number {
    return this.entries.length;
  }
}

export const fakeGateway = (first: readonly Body[], { pages = true } = {}): FakeGateway => new FakeGateway(first, pages);
