import { homedir } from "node:os";
import { systemClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { systemRandom } from "../base/random.ts";
import { loadCommandHost, type CommandHost } from "../app/index.ts";
import type { InstallDeps } from "../plugins/index.ts";
import { editConfig, type EditResult } from "./config-edit.ts";
import { loadFor } from "./config-source.ts";
import type { Io } from "./io.ts";
import { loadPlugins } from "./plugin-source.ts";

export interface Installing {
  readonly deps: InstallDeps;
  /** The last change of the configuration. */
  readonly edited: () => EditResult | undefined;
}

/**
 * The plugins that are on, loaded in this process, so that their `before_install` handlers are asked. Undefined when there are none but those that come with
 * the program: these ask nothing. One that cannot be loaded is told of and not asked, as in the gateway.
 */
export async function openGuards(io: Io): Promise<CommandHost | undefined> {
  const { inventory } = await loadPlugins(io);
  const entries = inventory.entries.filter(({ enabled, error, origin }) => enabled && error === undefined && origin !== "bundled");
  if (entries.length === 0) return undefined;
  const { openCommandHost } = await loadCommandHost();
  const sink = { write: ({ message }: { readonly message: string }) => io.err(`${message}\n`), flush: async () => {} };
  const { env, cwd, version } = io;
  return openCommandHost({ env, cwd, version, osHome: homedir(), inventory: { ...inventory, entries, diagnostics: [] }, sink });
}

export interface InstallingOptions {
  readonly yes?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  /** Who is asked about what comes in. */
  readonly hooks?: InstallDeps["hooks"];
}

/** What installs need, as a command has it. */
export function installing(io: Io, by: string, options: InstallingOptions = {}): Installing {
  const { paths, env } = loadFor(io);
  let edited: EditResult | undefined;
  const deps: InstallDeps = {
    stateDir: paths.state,
    config: () => loadFor(io).snapshot.resolved,
    edit: async (edit) => void (edited = await editConfig(io, edit, by)),
    env,
    cwd: io.cwd,
    home: paths.home ?? homedir(),
    pid: process.pid,
    clock: systemClock,
    ids: createIds(systemRandom),
    hooks: options.hooks,
    onStep: options.quiet ? undefined : (what) => io.err(`${what} …\n`),
    confirm: async (question) => options.yes === true || io.confirm(question),
    signal: io.signal(),
  };
  return { deps, edited: () => edited };
}

const FULL_AUTHORITY =
  "A plugin runs inside of the gateway with the gateway's full authority: it can read and do whatever the gateway can. Install only what you trust.";

export const fullAuthority = (): string => FULL_AUTHORITY;

/** What the running gateway makes of a change, for people. */
export function afterwards(edited: EditResult | undefined): string {
  if (!edited || edited.files.length === 0) return "";
  return edited.gatewayRunning
    ? "the running gateway restarts to take it over, unless its reload mode says otherwise"
    : "it counts from the gateway's next start";
}
