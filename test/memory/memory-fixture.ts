import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger, type Logger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createRedactor } from "../../src/base/redaction.ts";
import { openConfig, type Config } from "../../src/config/index.ts";
import { createMemory, type Memory, type Scope } from "../../src/memory/index.ts";
import { loadModels } from "../../src/models/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";

export const EVERYTHING: Scope = { sessions: "all", notes: true };
export const AGENT = "main";

export interface MemoryFixture {
  readonly folder: string;
  readonly workspace: string;
  readonly config: Config;
  readonly store: Store;
  /** Everything that was logged. */
  readonly logged: string[];
  memory: Memory;
  write(path: string, text: string): void;
  /** Replaces the configuration. */
  configure(value: object): void;
  /** Closes the memory and opens it again, as a new start does. */
  restart(): Promise<void>;
  /** Follows the notes and waits until all of them are embedded. */
  embedded(): Promise<void>;
  find(query: string, over?: object): Promise<Awaited<ReturnType<Memory["search"]>>>;
}

export interface FixtureOptions {
  readonly config: object;
  readonly notes?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** A memory over a real folder, store and thread. */
export async function memoryFixture({ config: written, notes = {}, env: more = {} }: FixtureOptions): Promise<MemoryFixture> {
  const folder = mkdtempSync(join(tmpdir(), "memory-"));
  const workspace = join(folder, "workspace");
  const file = join(folder, "openclaw.json");
  writeFileSync(file, JSON.stringify(written));
  const env = { HOME: folder, OPENCLAW_STATE_DIR: folder, OPENCLAW_CONFIG_PATH: file, ...more };
  const clock = systemClock;
  const ids = createIds(systemRandom);
  const config = await openConfig({ env, cwd: folder, osHome: folder, version: "1.0.0", clock, ids, purpose: "start" });
  const store = await openStore({ stateDir: folder, clock });
  const logged: string[] = [];
  const write = (message: string): void => void logged.push(message);
  const log: Logger = { ...silentLogger, warn: write, error: write, info: write, subsystem: () => log };
  const { createModels } = await loadModels();
  const models = createModels({
    config: () => config.current,
    env: config.env,
    agentDir: () => join(folder, "agent"),
    mainAgentDir: join(folder, "agent"),
    clock,
    ids,
    random: systemRandom,
    log,
    redactor: createRedactor(),
    version: "1.0.0",
  });
  const open = (): Memory =>
    createMemory({ config, store, clock, log, home: folder, workspaceOf: () => workspace, version: "1.0.0", auth: async (agentId) => models.auth(agentId) });
  const fixture: MemoryFixture = {
    folder,
    workspace,
    config,
    store,
    logged,
    memory: open(),
    write(path, text) {
      mkdirSync(dirname(join(workspace, path)), { recursive: true });
      writeFileSync(join(workspace, path), text);
      fixture.memory.notesChanged(AGENT);
    },
    configure(value) {
      writeFileSync(file, JSON.stringify(value));
      config.reload();
    },
    async restart() {
      await fixture.memory[Symbol.asyncDispose]();
      fixture.memory = open();
    },
    async embedded() {
      await fixture.memory.sync(AGENT);
      for (;;) {
        const { vector, custom } = await fixture.memory.status(AGENT);
        if (vector.pending === 0 && vector.count > 0) return;
        if (custom.providerUnavailableReason !== undefined) throw new Error(custom.providerUnavailableReason);
        await new Promise((next) => setTimeout(next, 5));
      }
    },
    find: (query, over = {}) => fixture.memory.search(AGENT, { query, scope: EVERYTHING, ...over }),
  };
  onTestFinished(async () => {
    await fixture.memory[Symbol.asyncDispose]();
    config[Symbol.dispose]();
    await store[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const [path, text] of Object.entries(notes)) fixture.write(path, text);
  return fixture;
}
