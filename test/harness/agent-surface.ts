import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSkills, loadRoster } from "../../src/agent/index.ts";
import { manualClock, systemClock, type ManualClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { agentPaths, openConfig, type Config } from "../../src/config/index.ts";
import { createHandlers, type AgentPort, type ToolFactsPort } from "../../src/gateway/index.ts";
import { createFileVersions } from "../../src/memory/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { createApprovals, createExecRules, createRemembered, type Approvals } from "../../src/tools/index.ts";
import { startGateway } from "../gateway/start.ts";
import { openClient, type RawClient } from "./gateway-client.ts";
import { createMemoryResponder, type MemoryResponder } from "./memory-responder.ts";

/** The gateway on real sockets, with the real modules behind its methods; runs are kept in memory. */
export interface AgentSurface extends AsyncDisposable {
  readonly folder: string;
  readonly workspace: string;
  readonly rulesFile: string;
  readonly url: string;
  readonly config: Config;
  readonly store: Store;
  /** Of the methods and the store. */
  readonly clock: ManualClock;
  readonly approvals: Approvals;
  readonly responder: MemoryResponder;
  client(params?: Record<string, unknown>): Promise<RawClient>;
}

export interface AgentSurfaceOptions {
  /** The file's text, or what it says. */
  readonly config?: object | string;
  /** Leaves out the optional ports. */
  readonly bare?: boolean;
  readonly compact?: AgentPort["compact"];
  readonly toolFacts?: ToolFactsPort;
}

const ANY = { decision: "allow", why: "" } as const;
/** Nothing here asks about the rules of an agent. */
const NO_EXPLAINING = {
  policy: () => Promise.reject(new Error("not asked for here")),
  explain: () => Promise.reject(new Error("not asked for here")),
};

const NO_FACTS: ToolFactsPort = { explain: async () => [], catalog: async () => [], file: async (_, path) => ({ path, read: ANY, write: ANY }) };

export async function openAgentSurface(options: AgentSurfaceOptions = {}): Promise<AgentSurface> {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "agent-surface-"));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "openclaw.json");
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  writeFileSync(file, typeof options.config === "string" ? options.config : JSON.stringify(options.config ?? {}), { mode: 0o600 });
  const ids = createIds(systemRandom);
  const clock = manualClock(Date.now());
  const env = { HOME: folder, OPENCLAW_STATE_DIR: folder, OPENCLAW_CONFIG_PATH: file };
  const config = stack.use(await openConfig({ env, cwd: folder, osHome: folder, version: "1.2.3", clock: systemClock, ids, purpose: "start" }));
  const store = stack.use(await openStore({ stateDir: folder, clock }));
  const responder = createMemoryResponder();
  const rulesFile = join(folder, "exec-approvals.json");
  const approvals = createApprovals({ store, clock, ids });
  const remembered = createRemembered({ store, clock, ids });
  const skills = stack.use(
    createSkills({ config: () => config.current, places: () => ({ home: folder, stateFolder: folder }), env: {}, platform: "linux", clock: systemClock }),
  );
  const agent: AgentPort = {
    workspace(id) {
      const own = config.current.agents?.list?.find((one) => one.id === id)?.workspace;
      return own ?? (id === "main" ? workspace : join(folder, `workspace-${id}`));
    },
    versions: createFileVersions({ clock, ids, log: silentLogger, stateDir: folder }),
    async roster() {
      const { createRoster, TEMPLATES } = await loadRoster();
      return { ...createRoster({ config, context: agentPaths(config, env), clock, ids, log: silentLogger }), templates: TEMPLATES };
    },
    ...(options.compact ? { compact: options.compact } : {}),
    skills: {
      status: skills.status,
      changed: skills.changed,
      managedFolder: join(folder, "skills"),
      installHost: async () => ({ platform: "linux", nodeManager: "npm", preferBrew: true, installers: new Set(["npm"]), isRoot: false }),
      install: () => Promise.reject(new Error("nothing is installed in this test")),
    },
  };
  const ports = {
    approvals,
    execRules: {
      ...createExecRules({ path: rulesFile, clock, ids, random: systemRandom }),
      remembered: remembered.list,
      forget: remembered.forget,
      restore: remembered.restore,
      ...NO_EXPLAINING,
    },
    agent,
    toolFacts: options.toolFacts ?? NO_FACTS,
  };
  const modules = { config, store, commits: store, clock, ids, log: silentLogger, responder, version: "1.2.3", logFile: () => join(folder, "log") };
  const requestRestart = ({ delayMs }: { readonly delayMs: number }) => ({ ok: false, delayMs, reason: "not in a test", coalesced: false });
  const started = stack.use(
    await startGateway({ handlers: (hub) => createHandlers({ ...modules, requestRestart, ...(options.bare ? {} : ports) }, hub), over: { responder, store } }),
  );
  const { url } = started.gateway;
  const kept = stack.move();
  return {
    folder,
    workspace,
    rulesFile,
    url,
    config,
    store,
    clock,
    approvals,
    responder,
    async client(params = {}) {
      const client = kept.use(await openClient(url));
      const { ok, error } = await client.connect(params);
      if (!ok) throw new Error(`not let in: ${JSON.stringify(error)}`);
      return client;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
