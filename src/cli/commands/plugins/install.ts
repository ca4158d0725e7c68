import { AppError } from "../../../base/errors.ts";
import { loadFor } from "../../config-source.ts";
import { loadInstall, type Finding, type InstallResult, loadPluginTrial, type UnloadablePlugin } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { afterwards, fullAuthority, installing } from "../../plugin-install.ts";
import { loadPlugins } from "../../plugin-source.ts";
import { printable } from "./record.ts";
import { installHooks, ownProgram, tryStaged } from "./trial.ts";

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
      printJson(io, { ok: true, ...result, unloadable, warning: fullAuthority(), gateway: afterwards(edited()) });
      return code;
    }
    tell(io, result, values.link ? "linked" : result.replaced ? "replaced" : "installed", afterwards(edited()));
    for (const { id, error = "no reason was given", because } of unloadable) {
      io.out(because === "missing settings" ? `${id} ${printable(error)}\n` : `warning: ${id} is installed and cannot be loaded: ${printable(error)}\n`);
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
  for (const finding of scan.findings) io.out(describe(finding, style.yellow));
  const what = `${ids.join(", ")}${version === undefined ? "" : ` ${printable(version)}`}`;
  if (dryRun) io.out(`would be ${done}: ${what} in ${record.installPath}; nothing was changed\n`);
  else io.out(`${done} ${what} in ${record.installPath}${after === "" ? "" : `; ${after}`}\n`);
  if (!dryRun) for (const note of notes) io.out(`${note}\n`);
  if (record.integrity !== undefined) io.out(style.dim(`${record.integrity}\n`));
  io.out(`${fullAuthority()}\n`);
}

function describe({ severity, message, file, line }: Finding, color: (text: string) => string): string {
  const place = file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`} `;
  return `${color(severity)} ${printable(`${place}${message}`)}\n`;
}
