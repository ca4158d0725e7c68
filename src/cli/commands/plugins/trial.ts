import { homedir } from "node:os";
import { loadCommandHost } from "../../../app/index.ts";
import { messageOf } from "../../../base/errors.ts";
import { run } from "../../../base/spawn.ts";
import type { Inventory, PluginDiagnostic, PluginEntry } from "../../../plugins/index.ts";
import type { Io } from "../../io.ts";
import type { Loaded } from "./record.ts";

/** Whether a plugin's code could be loaded. */
export interface Tried extends Loaded {
  readonly id: string;
  readonly source: string;
}

export interface Trial {
  readonly plugins: readonly Tried[];
  readonly diagnostics: readonly PluginDiagnostic[];
}

const TRIAL_MS = 120_000;
const MOST_OUTPUT = 16 * 1024 * 1024;
/** Begins the one line that the child says: plugins may print what they like. */
const MARK = "plugins-trial:";

const triable = ({ entries }: Inventory): PluginEntry[] => entries.filter(({ enabled, error }) => enabled && error === undefined);

/** Loads the plugins that are on, as a gateway would, in this process. Their services are not started. */
export async function loadHere(io: Io, inventory: Inventory): Promise<Trial> {
  const { openCommandHost } = await loadCommandHost();
  const { env, cwd, version } = io;
  const sink = { write: () => {}, flush: async () => {} };
  await using host = await openCommandHost({
    env,
    cwd,
    version,
    osHome: homedir(),
    inventory: { ...inventory, entries: triable(inventory), diagnostics: [] },
    sink,
  });
  const plugins = host.list().map(({ id, source, status, error }) => ({ id, source, status, ...(error === undefined ? {} : { error }) }));
  return { plugins, diagnostics: [...host.faults()] };
}

/** What the child prints for its parent. */
export const trialLine = (trial: Trial): string => `\n${MARK}${JSON.stringify(trial)}\n`;

/** Loads them in a child process: code that ends, blocks or litters its process does so there. */
export async function tryLoading(io: Io, inventory: Inventory): Promise<Trial> {
  const tried = triable(inventory);
  if (tried.length === 0) return { plugins: [], diagnostics: [] };
  const failed = (error: string): Trial => ({ plugins: tried.map(({ id, source }) => ({ id, source, status: "error", error })), diagnostics: [] });
  const args = [...process.execArgv, process.argv[1]!, "plugins", "doctor", "--here"];
  try {
    const { code, stdout, stderr } = await run(process.execPath, { args, cwd: io.cwd, env: io.env, timeoutMs: TRIAL_MS, maxOutputBytes: MOST_OUTPUT });
    const line = stdout.split("\n").findLast((text) => text.startsWith(MARK));
    if (line !== undefined) return JSON.parse(line.slice(MARK.length)) as Trial;
    const last = stderr.trim().split("\n").at(-1) ?? "";
    return failed(`the process that loaded the plugins ended with ${code ?? "a signal"}${last === "" ? "" : `: ${last}`}`);
  } catch (error) {
    return failed(`the plugins could not be tried: ${messageOf(error)}`);
  }
}
