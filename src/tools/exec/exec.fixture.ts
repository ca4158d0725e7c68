import { mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { manualClock, type ManualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { systemRandom } from "../../base/random.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { openStore, type Store } from "../../store/index.ts";
import { createApprovals, type Approvals } from "../approvals/approvals.ts";
import { processTool } from "../process/process.ts";
import { createProcesses, type Processes } from "../process/processes.ts";
import type { Tool, ToolContext, ToolOutcome } from "../tool.ts";
import type { ExecToolDeps } from "./deps.ts";
import { execTool } from "./exec.ts";
import { createRemembered } from "./remember/remembered.ts";
import { createExecRules } from "./rules-file.ts";
import { execSettings } from "./settings.ts";

let store: Store;
const storeClock = manualClock();
/** Opens the store of a file's houses. Call it in each file: unit tests share processes, and modules stay loaded. */
export function withStore(): void {
  beforeAll(async () => void (store = await openStore({ stateDir: mkdtempSync(join(tmpdir(), "exec-store-")), clock: storeClock })));
  afterAll(() => store[Symbol.asyncDispose]());
}

/** The two command tools over real processes, rules and questions; the clock is moved by hand. */
export interface Fixture extends AsyncDisposable {
  readonly workspace: string;
  readonly clock: ManualClock;
  readonly processes: Processes;
  readonly approvals: Approvals;
  readonly announced: string[];
  readonly rulesPath: string;
  readonly updates: ToolOutcome[];
  exec(params: Record<string, unknown>, signal?: AbortSignal): Promise<ToolOutcome>;
  process(params: Record<string, unknown>, sessionKey?: string): Promise<ToolOutcome>;
}

/** Most tests are about what a command does, not about who may run it. */
export const UNASKED: OpenClawConfig = { tools: { exec: { security: "full", ask: "off" } } };

export function fixture(config: OpenClawConfig = UNASKED, rest: Partial<ExecToolDeps> = {}, rules?: unknown, agentId = "main"): Fixture {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), "exec-")));
  const rulesPath = join(mkdtempSync(join(tmpdir(), "exec-rules-")), "exec-approvals.json");
  if (rules !== undefined) writeFileSync(rulesPath, JSON.stringify(rules));
  const clock = manualClock(storeClock.now());
  const ids = createIds(systemRandom);
  const processes = createProcesses({ clock, random: systemRandom });
  const approvals = createApprovals({ store, clock, ids, notify: () => undefined });
  const announced: string[] = [];
  const updates: ToolOutcome[] = [];
  const tool = execTool.create({
    clock,
    log: silentLogger,
    processes,
    approvals,
    rules: createExecRules({ path: rulesPath, clock, ids, random: systemRandom }),
    remembered: createRemembered({ store, clock, ids }),
    settings: ({ agentId }) => execSettings(config, agentId),
    env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", SHELL: "/bin/sh", NODE_OPTIONS: "--no-such-option" },
    home: workspace,
    ignoreCase: false,
    sandboxed: () => false,
    canBackground: () => true,
    elevation: () => ({ permitted: false, reason: "tools.elevated.enabled is false" }),
    announce: (_, text) => void announced.push(text),
    ...rest,
  });
  const context: ToolContext = { agentId, sessionKey: "agent:main:main", sessionId: "s", runId: "r", workspaceDir: workspace, owner: true };
  const call = (called: Tool, params: Record<string, unknown>, signal = new AbortController().signal, sessionKey = context.sessionKey) =>
    called.run({ id: "c", params, signal, update: (partial) => void updates.push(partial), context: { ...context, sessionKey } });
  return {
    workspace,
    clock,
    processes,
    approvals,
    announced,
    rulesPath,
    updates,
    exec: (params, signal) => call(tool, params, signal),
    process: (params, sessionKey) => call(processTool.create({ processes, clock }), params, undefined, sessionKey),
    [Symbol.asyncDispose]: () => processes[Symbol.asyncDispose](),
  };
}

export const SOON = { timeout: 20_000, interval: 10 };
export const text = (outcome: ToolOutcome): string => outcome.content.map((part) => (part.type === "text" ? part.text : part.type)).join();
export const sessionOf = (outcome: ToolOutcome): string => (outcome.details as { sessionId: string }).sessionId;
export const gateway: OpenClawConfig = { tools: { exec: { host: "gateway" } } };

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
