import { homedir } from "node:os";
import { systemClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { systemRandom } from "../base/random.ts";
import type { InstallDeps } from "../plugins/index.ts";
import { editConfig, type EditResult } from "./config-edit.ts";
import { describeAnswer } from "./gateway-answer.ts";
import { loadFor } from "./config-source.ts";
import type { Io } from "./io.ts";

export interface Installing {
  readonly deps: InstallDeps;
  /** The last change of the configuration. */
  readonly edited: () => EditResult | undefined;
}

export interface InstallingOptions {
  readonly yes?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  /** Who is asked about what comes in. */
  readonly hooks?: InstallDeps["hooks"];
  readonly tryStaged?: InstallDeps["tryStaged"];
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
    tryStaged: options.tryStaged,
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
  return edited.gatewayRunning ? describeAnswer(edited.gateway) : "it counts from the gateway's next start";
}
