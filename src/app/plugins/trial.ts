import { messageOf } from "../../base/errors.ts";
import { run } from "../../base/spawn.ts";
import type { Env } from "../../config/index.ts";
import type { Inventory, PluginDiagnostic, PluginEntry, PluginStatus } from "../../plugins/index.ts";
import { openCommandHost, type CommandHostOptions } from "./command-host.ts";

/** Whether a plugin's code could be loaded. */
export interface TriedPlugin {
  readonly id: string;
  readonly source: string;
  readonly status: PluginStatus["status"];
  readonly error?: string | undefined;
}

export interface PluginTrial {
  readonly plugins: readonly TriedPlugin[];
  readonly diagnostics: readonly PluginDiagnostic[];
}

/** How to run this program once more. */
export interface TrialProgram {
  /** Arguments of the Node executable up to the command. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Env;
}

const TRIAL_MS = 120_000;
const MOST_OUTPUT = 16 * 1024 * 1024;
/** Begins the one line that the child prints for its parent: plugins may print what they like. */
const MARK = "plugins-trial:";

const triable = ({ entries }: Inventory): PluginEntry[] => entries.filter(({ enabled, error }) => enabled && error === undefined);

/** Loads the plugins that are on, as a gateway would, in this process. Their services are not started. */
export async function loadHere(options: Omit<CommandHostOptions, "sink">): Promise<PluginTrial> {
  const { inventory } = options;
  const sink = { write: () => {}, flush: async () => {} };
  await using host = await openCommandHost({ ...options, inventory: { ...inventory, entries: triable(inventory), diagnostics: [] }, sink });
  const plugins = host.list().map(({ id, source, status, error }) => ({ id, source, status, ...(error === undefined ? {} : { error }) }));
  return { plugins, diagnostics: [...host.faults()] };
}

/** What the child prints for its parent. */
export const trialLine = (trial: PluginTrial): string => `\n${MARK}${JSON.stringify(trial)}\n`;

/**
 * Loads the plugins of the inventory in a child process: code that ends, blocks or litters its process does so there. When the process ends with several of
 * them, each is tried alone, so that none is blamed for another.
 */
export async function tryLoading(program: TrialProgram, inventory: Inventory): Promise<PluginTrial> {
  const { args, cwd, env } = program;
  const tried = triable(inventory);
  if (tried.length === 0) return { plugins: [], diagnostics: [] };
  const failed = (error: string): PluginTrial => ({ plugins: tried.map(({ id, source }) => ({ id, source, status: "error", error })), diagnostics: [] });
  const ids = [...new Set(tried.map(({ id }) => id))];
  try {
    const { code, stdout, stderr } = await run(process.execPath, {
      args: [...args, "plugins", "doctor", "--here", ...ids],
      cwd,
      env,
      timeoutMs: TRIAL_MS,
      maxOutputBytes: MOST_OUTPUT,
    });
    const line = stdout.split("\n").findLast((text) => text.startsWith(MARK));
    if (line !== undefined) return JSON.parse(line.slice(MARK.length)) as PluginTrial;
    const last = stderr.trim().split("\n").at(-1) ?? "";
    const ending = `ended with ${code ?? "a signal"}${last === "" ? "" : `: ${last}`}`;
    return ids.length > 1 ? await tryEach(program, inventory, ids, ending) : failed(`the process that loaded it ${ending}`);
  } catch (error) {
    return failed(`it could not be tried: ${messageOf(error)}`);
  }
}

async function tryEach(program: TrialProgram, inventory: Inventory, ids: readonly string[], ending: string): Promise<PluginTrial> {
  const trials: PluginTrial[] = [];
  for (const wanted of ids) trials.push(await tryLoading(program, { ...inventory, entries: inventory.entries.filter(({ id }) => id === wanted) }));
  const plugins = trials.flatMap((trial) => trial.plugins);
  const diagnostics = trials.flatMap((trial) => trial.diagnostics);
  if (plugins.some(({ status }) => status === "error")) return { plugins, diagnostics };
  const message = `every plugin loads alone, but the process that loaded them together ${ending}`;
  return { plugins, diagnostics: [...diagnostics, { level: "error", code: "trial-failed", message }] };
}

export interface UnloadablePlugin extends TriedPlugin {
  /** Whether its settings keep it out, or its code failed. */
  readonly because: "settings" | "code";
}

/** Those of the plugins that are on and cannot be loaded, with why. */
export async function unloadablePlugins(program: TrialProgram, inventory: Inventory, ids: readonly string[]): Promise<readonly UnloadablePlugin[]> {
  const entries = inventory.entries.filter(({ id, enabled }) => ids.includes(id) && enabled);
  const kept = entries.filter(({ error }) => error !== undefined);
  const { plugins } = await tryLoading(program, { ...inventory, entries });
  return [
    ...kept.map(({ id, source, error }): UnloadablePlugin => ({ id, source, status: "error", error, because: "settings" })),
    ...plugins.filter(({ status }) => status === "error").map((plugin): UnloadablePlugin => ({ ...plugin, because: "code" })),
  ];
}
