import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { manualClock, type ManualClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { seededRandom } from "../../src/base/random.ts";
import { openConfig, type Config } from "../../src/config/index.ts";
import type { Conversation } from "../../src/conversation/index.ts";
import { agentHandlers } from "../../src/gateway/methods/agent.ts";
import { agentsHandlers } from "../../src/gateway/methods/agents.ts";
import { chatHandlers } from "../../src/gateway/methods/chat.ts";
import type { Fanout, TextForm } from "../../src/gateway/fanout.ts";
import { createMessageOrder } from "../../src/gateway/methods/chat/incoming.ts";
import { createRunRelay, type RunRelay } from "../../src/gateway/runs/relay.ts";
import { configHandlers, createWriteBudget } from "../../src/gateway/methods/config.ts";
import type { CallContext, Caller, Handlers } from "../../src/gateway/methods/handler.ts";
import { logsHandlers } from "../../src/gateway/methods/logs.ts";
import { sessionsHandlers } from "../../src/gateway/methods/sessions.ts";
import { systemHandlers } from "../../src/gateway/methods/system.ts";
import { usageHandlers } from "../../src/gateway/methods/usage.ts";
import { createWatchers, viewHandlers } from "../../src/gateway/methods/view.ts";
import { createTurns } from "../../src/gateway/turns.ts";
import { loadAnswerChecks, loadValidators, type EventName, type MethodName, type MethodParams, type MethodResult } from "../../src/protocol/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { echoAgents } from "./echo-agents.ts";
import { openTalk } from "./talk.ts";

export interface SentEvent {
  readonly event: EventName;
  readonly payload: Record<string, unknown>;
}

/** All methods of the gateway on real modules in a temporary folder, without sockets. */
export interface MethodFixture extends AsyncDisposable {
  readonly folder: string;
  readonly clock: ManualClock;
  readonly config: Config;
  readonly store: Store;
  readonly echo: Conversation;
  readonly relay: RunRelay;
  readonly events: SentEvent[];
  readonly accepted: unknown[];
  readonly systemTexts: string[];
  readonly logFile: string;
  /** Calls a method as its dispatcher would; the answer and every event are held against the declared shapes. */
  call<M extends MethodName>(method: M, params: MethodParams<M>, caller?: Partial<Caller>): Promise<MethodResult<M>>;
  /** Resolves with the first event that matches, once it is sent. */
  waitForEvent(fits: (event: SentEvent) => boolean): Promise<SentEvent>;
}

export const ADMIN: Caller = {
  connId: "c1",
  role: "operator",
  scopes: new Set(["operator.admin"]),
  client: { id: "test", mode: "test", version: "1", platform: "test" },
  caps: new Set(),
  local: true,
};

export async function openMethods(options: { readonly config?: object; readonly folder?: string; readonly seed?: number } = {}): Promise<MethodFixture> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "methods-"));
  const file = join(folder, "openclaw.json");
  mkdirSync(folder, { recursive: true });
  if (options.config) writeFileSync(file, JSON.stringify(options.config, null, 2), { mode: 0o600 });
  const clock = manualClock();
  const ids = createIds(seededRandom(options.seed ?? 1));
  const env = { HOME: folder, OPENCLAW_STATE_DIR: folder, OPENCLAW_CONFIG_PATH: file };
  const config = await openConfig({ env, cwd: folder, osHome: folder, version: "1.2.3", clock, ids, purpose: "start" });
  const store = await openStore({ stateDir: folder, clock });
  const { conversation: echo } = await openTalk({ store, clock, ids, agents: echoAgents({ store, clock, ids, folder }) });
  const [checks, validators] = await Promise.all([loadAnswerChecks(), loadValidators()]);
  const events: SentEvent[] = [];
  const waiting = new Set<() => void>();
  const broadcast = (event: EventName, payload: unknown, { form = "whole" }: { readonly form?: TextForm } = {}): void => {
    if (form !== "whole") return;
    expect([event, payload, checks.event(event, payload)]).toEqual([event, payload, undefined]);
    events.push({ event, payload: payload as Record<string, unknown> });
    for (const wake of waiting) wake();
  };
  const watchers = createWatchers();
  const send = (connId: string, event: EventName, payload: unknown): boolean => {
    broadcast(event, { ...(payload as object) });
    return connId === ADMIN.connId;
  };
  // One connection that takes whole texts.
  const piece: Fanout["piece"] = (cursor, text, event) => {
    const delta = text.slice(cursor.sent);
    cursor.sent = text.length;
    broadcast("agent", { ...event, data: { text, delta } }, { form: cursor.form });
    return { bytes: 0, behind: 0 };
  };
  const relay = createRunRelay({ responder: echo, broadcast, piece, form: () => "whole", clock, watched: watchers.sessions });
  const stopping = new AbortController();
  const systemTexts: string[] = [];
  const presence = {
    list: () => [{ ts: clock.now(), text: "Gateway", mode: "gateway" }],
    update: (fields: { readonly text: string }) => !systemTexts.includes(fields.text) && systemTexts.push(fields.text) > 0,
  };
  const deps = {
    config,
    store,
    clock,
    ids,
    log: silentLogger,
    responder: echo,
    relay,
    broadcast,
    turns: createTurns(),
    order: createMessageOrder(),
    exclusively: <T>(sessionKey: string, work: () => Promise<T>): Promise<T> =>
      echo.exclusively(sessionKey, (session) => {
        session.row = undefined;
        return work();
      }),
    version: "1.2.3",
  };
  const logFile = join(folder, "openclaw.log");
  const handlers: Handlers = {
    ...systemHandlers({ ...deps, presence }),
    ...configHandlers({
      ...deps,
      budget: createWriteBudget(clock),
      requestRestart: ({ delayMs }) => ({ ok: false, delayMs, reason: "not in a test", coalesced: false }),
    }),
    ...sessionsHandlers(deps),
    ...usageHandlers(deps),
    ...logsHandlers({ logFile: () => logFile }),
    ...chatHandlers(deps),
    ...agentHandlers(deps),
    ...agentsHandlers(deps),
    ...viewHandlers({ ...deps, watchers, commits: store, send, isThere: (connId) => connId === ADMIN.connId, stopping: stopping.signal }),
  };
  const accepted: unknown[] = [];

  return {
    folder,
    clock,
    config,
    store,
    echo,
    relay,
    events,
    accepted,
    systemTexts,
    logFile,
    async call(method, params, caller = {}) {
      expect([method, params, validators.params(method, params)]).toEqual([method, params, undefined]);
      const context: CallContext = {
        caller: { ...ADMIN, ...caller },
        signal: new AbortController().signal,
        accepted: (payload) => void accepted.push(payload),
      };
      const handler = handlers[method];
      if (!handler) throw new Error(`${method} has no handler`);
      const result = await handler(params as never, context);
      expect([method, result, checks.result(method, result)]).toEqual([method, result, undefined]);
      return result;
    },
    async waitForEvent(fits) {
      for (;;) {
        const found = events.find(fits);
        if (found) return found;
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.add(resolve);
        await promise;
        waiting.delete(resolve);
      }
    },
    async [Symbol.asyncDispose]() {
      const disposed = echo[Symbol.asyncDispose]();
      const pump = setInterval(() => clock.advance(30_000), 1);
      await disposed;
      clearInterval(pump);
      stopping.abort();
      relay[Symbol.dispose]();
      config[Symbol.dispose]();
      await store[Symbol.asyncDispose]();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
