import { mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { manualClock, type Clock, type ManualClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger, type Logger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createHooks, createInternalHooks, createToolPolicies, type Hooks, type ToolPolicies } from "../../src/hooks/index.ts";
import type { Store } from "../../src/store/index.ts";
import {
  createHostPackages,
  createModuleLoader,
  createPluginHost,
  hookSettings,
  type GuardRecords,
  type PluginEntry,
  type PluginHost,
} from "../../src/plugins/index.ts";

/** One plugin in a test: its code, and what the inventory says of it. */
export interface SamplePlugin extends Partial<Omit<PluginEntry, "rootDir" | "source">> {
  readonly id: string;
  /** The body of `register(api)`, or a whole module when it exports something itself. */
  readonly code: string;
}

export interface HostPlace extends AsyncDisposable {
  readonly host: PluginHost;
  readonly hooks: Hooks;
  readonly policies: ToolPolicies;
  readonly clock: ManualClock;
  /** Entries, to be changed between reloads. */
  readonly entries: PluginEntry[];
  /** What was written to the store, in order. */
  readonly written: (readonly [string, unknown])[];
  readonly mounted: Set<string>;
  /** Texts of diagnostics. */
  messages(pluginId?: string): readonly string[];
}

/** A place where code of plugins and the test meet. */
export const seen = globalThis as unknown as { seen: unknown[] };

export const moduleOf = (code: string): string =>
  /^\s*(?:export|import) |module\.exports/m.test(code) ? code : `export default function register(api) {\n${code}\n}\n`;

/** Writes a plugin into a folder of its own. */
function install({ code, ...entry }: SamplePlugin): PluginEntry {
  const rootDir = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-plugin-")));
  const source = join(rootDir, "index.mjs");
  writeFileSync(source, moduleOf(code));
  const { id } = entry;
  return { name: id, origin: "config", manifest: { id, configSchema: {}, rest: {} }, enabled: true, ...entry, rootDir, source };
}

type Row = { readonly sessionKey: string; readonly pluginId: string; readonly namespace: string; readonly value: unknown };

/** A store that keeps what plugins keep in sessions, and a list of everything written to it. */
function rowStore(written: (readonly [string, unknown])[]): Pick<Store, "read" | "write"> {
  const rows = new Map<string, Row>();
  const store = {
    async read(kind: string, { sessionKey }: Row) {
      return kind === "extensions.get" ? [...rows.values()].filter((row) => row.sessionKey === sessionKey) : [];
    },
    async write(kind: string, input: Row) {
      written.push([kind, input]);
      if (kind === "extensions.set") rows.set([input.sessionKey, input.pluginId, input.namespace].join(" "), input);
      return { id: "1", duplicate: false };
    },
  };
  return store as never;
}

/** A host over real files, the real loader and real hooks; only the store is a list. */
export async function openHost(
  plugins: readonly SamplePlugin[],
  over: { readonly config?: object; readonly clock?: Clock; readonly log?: Logger; readonly guards?: GuardRecords } = {},
): Promise<HostPlace> {
  seen.seen = [];
  const clock = manualClock();
  const { log = silentLogger } = over;
  const config = { ...over.config };
  const entries = plugins.map(install);
  const written: (readonly [string, unknown])[] = [];
  const mounted = new Set<string>();
  const settings = hookSettings({ config: () => config, isBundled: () => false, onInvalid: () => {} });
  const hooks = createHooks({ clock, log, settings });
  const policies = createToolPolicies({ clock, log, settings });
  const loader = createModuleLoader({
    sdkDir: fileURLToPath(new URL("../../src/plugins/sdk/paths", import.meta.url)),
    hostPackages: createHostPackages({ from: import.meta.url }),
    clock: over.clock ?? clock,
    firstToken: createIds(systemRandom).hex(4),
  });
  const host = createPluginHost({
    loader,
    inventory: async () => ({ entries: [...entries], diagnostics: [] }),
    ports: {
      hooks,
      internalHooks: createInternalHooks({ log, clock, enabled: () => true }),
      policies,
      mountRoute: (_owner, { path }) => {
        mounted.add(path);
        return { [Symbol.dispose]: () => void mounted.delete(path) };
      },
      coreMethod: (method) => (method === "health" ? "the gateway" : undefined),
      coreTool: (name) => (name === "exec" ? "the gateway" : undefined),
    },
    store: rowStore(written),
    guardRecords: over.guards,
    config: () => config,
    clock: over.clock ?? clock,
    ids: createIds(systemRandom),
    log,
    stateDir: "/state",
    homeDir: "/home/user",
    runtimeFor: () => ({ version: "1" }),
    canonicalKey: (written) => (written.startsWith("agent:") ? written : `agent:main:${written}`),
  });
  await host.start();
  return {
    host,
    hooks,
    policies,
    clock,
    entries,
    written,
    mounted,
    messages: (pluginId) => host.diagnostics().flatMap((found) => (pluginId === undefined || found.pluginId === pluginId ? [found.message] : [])),
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      loader[Symbol.dispose]();
      hooks[Symbol.dispose]();
      policies[Symbol.dispose]();
    },
  };
}

/** The file of a sample plugin. */
export const fileOf = (entry: PluginEntry): string => join(entry.rootDir, "index.mjs");
