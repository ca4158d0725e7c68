import { homedir } from "node:os";
import { systemClock } from "../../../base/clock.ts";
import { createIds } from "../../../base/ids.ts";
import { systemRandom } from "../../../base/random.ts";
import {
  type InstallDeps,
  loadInstall,
  type Finding,
  type InstallResult,
  loadPluginTrial,
  type UnloadablePlugin,
  type UpdateOutcome,
} from "../../../plugins/index.ts";
import { editConfig, type EditResult } from "../../config-edit.ts";
import { describeAnswer } from "../../gateway-answer.ts";
import { loadFor } from "../../config-source.ts";
import { type Io, printJson } from "../../io.ts";
import { escapeLine } from "../../../base/printable.ts";
import { AppError } from "../../../base/errors.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { createStyle } from "../../output/style.ts";
import { loadPlugins } from "../../plugin-source.ts";
import { installHooks, ownProgram, tryStaged } from "./trial.ts";

interface Installing {
  readonly deps: InstallDeps;
  /** The last change of the configuration. */
  readonly edited: () => EditResult | undefined;
}

interface InstallingOptions {
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

/** What the running gateway makes of a change, for people. */
export function afterwards(edited: EditResult | undefined): string {
  if (!edited || edited.files.length === 0) return "";
  return edited.gatewayRunning ? describeAnswer(edited.gateway) : "it counts from the gateway's next start";
}

export const install = defineCommand({
  positionals: "<path | archive | npm-package>",
  options: {
    link: { type: "boolean", short: "l", help: "use the folder where it is, instead of a copy" },
    pin: { type: "boolean", help: "stay with the exact version at updates" },
    force: { type: "boolean", help: "replace the one that is installed" },
    "dry-run": { type: "boolean", help: "look at everything, change nothing" },
    json: JSON_OPTION,
  },
  examples: [
    {
      line: "openclaw plugins create ./notes --template tool && openclaw plugins install ./notes --dry-run",
      does: "what would be installed, and what stands out in it",
    },
    { line: "openclaw plugins create ./diary --template hook && openclaw plugins install ./diary --link", does: "a plugin you work on, used where it is" },
  ],
  async run({ io, values, positionals }) {
    const spec = positionals[0];
    if (spec === undefined) throw new AppError("INVALID_INPUT", "expected a folder, an archive or an npm package");
    const { installPlugin, withdrawShadowing } = await loadInstall();
    const hooks = await installHooks(io);
    const { deps, edited } = installing(io, "cli plugins install", { quiet: values.json, hooks, tryStaged: tryStaged(io) });
    const before = loadFor(io).snapshot.resolved;
    const result = await installPlugin({ spec, link: values.link, pin: values.pin, force: values.force, dryRun: values["dry-run"] }, deps);
    const unloadable = result.dryRun ? [] : await cannotLoad(io, result.ids);
    if (unloadable.length > 0) await withdrawShadowing({ unloadable, inventory: (await loadPlugins(io)).inventory, before }, deps);
    const code = unloadable.some(({ because }) => because === "code") ? 1 : 0;
    if (values.json) {
      printJson(io, { ok: true, ...result, unloadable, warning: FULL_AUTHORITY, gateway: afterwards(edited()) });
      return code;
    }
    tell(io, result, values.link ? "linked" : result.replaced ? "replaced" : "installed", afterwards(edited()));
    for (const { id, error = "no reason was given", because } of unloadable) {
      io.out(because === "missing settings" ? `${id} ${escapeLine(error)}\n` : `warning: ${id} is installed and cannot be loaded: ${escapeLine(error)}\n`);
    }
    return code;
  },
});

async function cannotLoad(io: Io, ids: readonly string[]): Promise<readonly UnloadablePlugin[]> {
  const { unloadablePlugins } = await loadPluginTrial();
  return await unloadablePlugins(ownProgram(io), (await loadPlugins(io)).inventory, ids);
}

function tell(io: Io, { ids, version, record, scan, notes, dryRun }: InstallResult, done: string, after: string): void {
  const style = createStyle(io.color);
  for (const finding of scan.findings) io.out(describeFinding(finding, style.yellow));
  const what = `${ids.join(", ")}${version === undefined ? "" : ` ${escapeLine(version)}`}`;
  if (dryRun) io.out(`would be ${done}: ${what} in ${record.installPath}; nothing was changed\n`);
  else io.out(`${done} ${what} in ${record.installPath}${after === "" ? "" : `; ${after}`}\n`);
  if (!dryRun) for (const note of notes) io.out(`${note}\n`);
  if (record.integrity !== undefined) io.out(style.dim(`${record.integrity}\n`));
  io.out(`${FULL_AUTHORITY}\n`);
}

export function describeFinding({ severity, message, file, line }: Finding, color: (text: string) => string): string {
  const position = file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`} `;
  return `${color(severity)} ${escapeLine(`${position}${message}`)}\n`;
}

export const update = defineCommand({
  positionals: "[id]",
  options: {
    all: { type: "boolean", help: "all that came from the npm registry" },
    "dry-run": { type: "boolean", help: "say what would be done" },
    yes: { type: "boolean", short: "y", help: "take other files under the same version without asking" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw plugins update --all --dry-run", does: "which plugins have newer versions" }],
  async run({ io, values, positionals }) {
    const id = positionals[0];
    if ((id === undefined) === (values.all !== true)) throw new AppError("INVALID_INPUT", "expected the id of a plugin, or --all");
    const { updatePlugins } = await loadInstall();
    const hooks = await installHooks(io);
    const { deps, edited } = installing(io, "cli plugins update", { yes: values.yes, quiet: values.json, hooks, tryStaged: tryStaged(io) });
    const outcomes = await updatePlugins({ id, dryRun: values["dry-run"] }, deps);
    const failed = outcomes.some(({ status }) => status === "failed");
    if (values.json) printJson(io, { ok: !failed, outcomes, gateway: afterwards(edited()) });
    else {
      if (outcomes.length === 0) io.out(io.runnable("no plugin was installed with openclaw plugins install\n"));
      for (const outcome of outcomes) io.out(`${describeUpdate(outcome)}\n`);
      const after = afterwards(edited());
      if (after !== "") io.out(`${after}\n`);
    }
    return failed ? 1 : 0;
  },
});

export function describeUpdate({ id, status, from, to, reason }: UpdateOutcome): string {
  const versions =
    from === undefined && to === undefined ? "" : ` (${[from, to].filter((one, at) => one !== undefined && (at === 0 || one !== from)).join(" → ")})`;
  return escapeLine(`${id}: ${status}${versions}${reason === undefined ? "" : `: ${reason}`}`);
}

export const uninstall = defineCommand({
  positionals: "<id>",
  options: {
    "keep-files": { type: "boolean", help: "leave its folder where it is" },
    "keep-config": { type: "boolean", help: "the old name of --keep-files" },
    "dry-run": { type: "boolean", help: "say what would be removed" },
    force: { type: "boolean", help: "do not ask" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw plugins uninstall hello --dry-run", does: "what belongs to it" }],
  async run({ io, values, positionals }) {
    const id = positionals[0];
    if (id === undefined) throw new AppError("INVALID_INPUT", "expected the id of a plugin; openclaw plugins list shows them");
    const { inventory } = await loadPlugins(io);
    const { uninstallPlugin } = await loadInstall();
    const { deps, edited } = installing(io, "cli plugins uninstall", { quiet: true });
    const keepFiles = values["keep-files"] ?? values["keep-config"];
    const named = inventory.entries.filter((one) => one.id === id);
    const entry = named.find(({ origin }) => origin === "global") ?? named[0];
    const result = await uninstallPlugin({ id, entry, keepFiles, dryRun: values["dry-run"], force: values.force }, deps);
    const after = afterwards(edited());
    if (values.json) return printJson(io, { ok: true, ...result, gateway: after });
    const would = result.dryRun ? "would remove" : "removed";
    for (const what of result.removed) io.out(`${would} ${what}\n`);
    if (result.deleted !== undefined) io.out(`${result.dryRun ? "would delete" : "deleted"} ${result.deleted}\n`);
    if (result.kept !== undefined) io.out(`${result.kept} stays\n`);
    if (!result.dryRun) io.out(`uninstalled ${id}${after === "" ? "" : `; ${after}`}\n`);
  },
});
