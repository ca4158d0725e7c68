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

interface CommandInstallDeps {
  readonly deps: InstallDeps;
  /** The last change to the configuration. */
  readonly edited: () => EditResult | undefined;
}

interface CommandInstallOptions {
  readonly yes?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  /** Hooks that review the package. */
  readonly hooks?: InstallDeps["hooks"];
  readonly tryStaged?: InstallDeps["tryStaged"];
}

/** Install dependencies for a CLI command. */
export function createInstallDeps(io: Io, by: string, options: CommandInstallOptions = {}): CommandInstallDeps {
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

const FULL_AUTHORITY = "A plugin runs inside the gateway with full access: it can read and do everything the gateway can. Install only plugins you trust.";

/** How the running gateway reacts to the change. */
export function gatewayEffect(edited: EditResult | undefined): string {
  if (!edited || edited.files.length === 0) return "";
  return edited.gatewayRunning ? describeAnswer(edited.gateway) : "it applies on the next start";
}

export const install = defineCommand({
  positionals: "<path | archive | npm-package>",
  options: {
    link: { type: "boolean", short: "l", help: "Use the folder in place instead of copying it" },
    pin: { type: "boolean", help: "Pin the exact version" },
    force: { type: "boolean", help: "Replace an installed version" },
    "dry-run": { type: "boolean", help: "Show what would happen without changing anything" },
    json: JSON_OPTION,
  },
  examples: [
    {
      line: "openclaw plugins create ./notes --template tool && openclaw plugins install ./notes --dry-run",
      does: "Review what would be installed",
    },
    { line: "openclaw plugins create ./diary --template hook && openclaw plugins install ./diary --link", does: "Use a plugin under development in place" },
  ],
  async run({ io, values, positionals }) {
    const spec = positionals[0];
    if (spec === undefined) throw new AppError("INVALID_INPUT", "expected a folder, an archive or an npm package");
    const { installPlugin, withdrawShadowing } = await loadInstall();
    const hooks = await installHooks(io);
    const { deps, edited } = createInstallDeps(io, "cli plugins install", { quiet: values.json, hooks, tryStaged: tryStaged(io) });
    const before = loadFor(io).snapshot.resolved;
    const result = await installPlugin({ spec, link: values.link, pin: values.pin, force: values.force, dryRun: values["dry-run"] }, deps);
    const unloadable = result.dryRun ? [] : await cannotLoad(io, result.ids);
    if (unloadable.length > 0) await withdrawShadowing({ unloadable, inventory: (await loadPlugins(io)).inventory, before }, deps);
    const code = unloadable.some(({ because }) => because === "code") ? 1 : 0;
    if (values.json) {
      printJson(io, { ok: true, ...result, unloadable, warning: FULL_AUTHORITY, gateway: gatewayEffect(edited()) });
      return code;
    }
    printResult(io, result, values.link ? "linked" : result.replaced ? "replaced" : "installed", gatewayEffect(edited()));
    for (const { id, error = "no reason given", because } of unloadable) {
      io.out(because === "missing settings" ? `${id} ${escapeLine(error)}\n` : `warning: ${id} is installed but cannot be loaded: ${escapeLine(error)}\n`);
    }
    return code;
  },
});

async function cannotLoad(io: Io, ids: readonly string[]): Promise<readonly UnloadablePlugin[]> {
  const { unloadablePlugins } = await loadPluginTrial();
  return await unloadablePlugins(ownProgram(io), (await loadPlugins(io)).inventory, ids);
}

function printResult(io: Io, { ids, version, record, scan, notes, dryRun }: InstallResult, done: string, effect: string): void {
  const style = createStyle(io.color);
  for (const finding of scan.findings) io.out(describeFinding(finding, style.yellow));
  const what = `${ids.join(", ")}${version === undefined ? "" : ` ${escapeLine(version)}`}`;
  if (dryRun) io.out(`Would be ${done}: ${what} in ${record.installPath}. No changes made\n`);
  else io.out(`${done} ${what} in ${record.installPath}${effect === "" ? "" : `; ${effect}`}\n`);
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
    all: { type: "boolean", help: "Update everything installed from npm" },
    "dry-run": { type: "boolean", help: "Show what would be done" },
    yes: { type: "boolean", short: "y", help: "Accept changed files under the same version without asking" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw plugins update --all --dry-run", does: "List plugins with newer versions" }],
  async run({ io, values, positionals }) {
    const id = positionals[0];
    if ((id === undefined) === (values.all !== true)) throw new AppError("INVALID_INPUT", "expected a plugin id, or --all");
    const { updatePlugins } = await loadInstall();
    const hooks = await installHooks(io);
    const { deps, edited } = createInstallDeps(io, "cli plugins update", { yes: values.yes, quiet: values.json, hooks, tryStaged: tryStaged(io) });
    const outcomes = await updatePlugins({ id, dryRun: values["dry-run"] }, deps);
    const failed = outcomes.some(({ status }) => status === "failed");
    if (values.json) printJson(io, { ok: !failed, outcomes, gateway: gatewayEffect(edited()) });
    else {
      if (outcomes.length === 0) io.out(io.runnable("No plugins were installed with openclaw plugins install\n"));
      for (const outcome of outcomes) io.out(`${describeUpdate(outcome)}\n`);
      const effect = gatewayEffect(edited());
      if (effect !== "") io.out(`${effect}\n`);
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
    "keep-files": { type: "boolean", help: "Keep its folder" },
    "keep-config": { type: "boolean", help: "Older name of --keep-files" },
    "dry-run": { type: "boolean", help: "Show what would be removed" },
    force: { type: "boolean", help: "Don't ask for confirmation" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw plugins uninstall hello --dry-run", does: "Show what would be removed" }],
  async run({ io, values, positionals }) {
    const id = positionals[0];
    if (id === undefined) throw new AppError("INVALID_INPUT", "expected a plugin id; list them with: openclaw plugins list");
    const { inventory } = await loadPlugins(io);
    const { uninstallPlugin } = await loadInstall();
    const { deps, edited } = createInstallDeps(io, "cli plugins uninstall", { quiet: true });
    const keepFiles = values["keep-files"] ?? values["keep-config"];
    const named = inventory.entries.filter((one) => one.id === id);
    const entry = named.find(({ origin }) => origin === "global") ?? named[0];
    const result = await uninstallPlugin({ id, entry, keepFiles, dryRun: values["dry-run"], force: values.force }, deps);
    const effect = gatewayEffect(edited());
    if (values.json) return printJson(io, { ok: true, ...result, gateway: effect });
    const would = result.dryRun ? "Would remove" : "Removed";
    for (const what of result.removed) io.out(`${would} ${what}\n`);
    if (result.deleted !== undefined) io.out(`${result.dryRun ? "Would delete" : "Deleted"} ${result.deleted}\n`);
    if (result.kept !== undefined) io.out(`Kept ${result.kept}\n`);
    if (!result.dryRun) io.out(`Uninstalled ${id}${effect === "" ? "" : `; ${effect}`}\n`);
  },
});
