import { AppError } from "../../../base/errors.ts";
import { loadInstall, type Finding, type InstallResult } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { afterwards, fullAuthority, installing } from "../../plugin-install.ts";
import { loadPlugins } from "../../plugin-source.ts";
import { printable } from "./record.ts";
import { installHooks, tryLoading, type Tried } from "./trial.ts";

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
    const { installPlugin } = await loadInstall();
    const hooks = installHooks(io, (await loadPlugins(io)).inventory);
    const { deps, edited } = installing(io, "cli plugins install", { quiet: values.json, hooks });
    const result = await installPlugin({ spec, link: values.link, pin: values.pin, force: values.force, dryRun: values["dry-run"] }, deps);
    const unloadable = result.dryRun ? [] : await cannotLoad(io, result.ids);
    await keepBundled(io, unloadable, deps);
    if (values.json) return printJson(io, { ok: true, ...result, unloadable, warning: fullAuthority(), gateway: afterwards(edited()) });
    tell(io, result, values.link ? "linked" : result.replaced ? "replaced" : "installed", afterwards(edited()));
    for (const { id, error = "it was not told why" } of unloadable) io.out(`warning: ${id} is installed and cannot be loaded: ${printable(error)}\n`);
    return unloadable.length > 0 ? 1 : 0;
  },
});

/** Those of the plugins that are on and whose code cannot be loaded, with why. */
async function cannotLoad(io: Io, ids: readonly string[]): Promise<readonly Tried[]> {
  const { inventory } = await loadPlugins(io);
  const { plugins } = await tryLoading(io, { ...inventory, entries: inventory.entries.filter(({ id }) => ids.includes(id)) });
  return plugins.filter(({ id, status }) => ids.includes(id) && status === "error");
}

/** One that cannot be loaded does not take the place of one that comes with the program: it is removed again. */
async function keepBundled(io: Io, unloadable: readonly Tried[], deps: ReturnType<typeof installing>["deps"]): Promise<void> {
  const { inventory } = await loadPlugins(io);
  const { uninstallPlugin } = await loadInstall();
  for (const { id, source, error } of unloadable) {
    if (!inventory.entries.some((entry) => entry.id === id && entry.origin === "bundled")) continue;
    const entry = inventory.entries.find((one) => one.id === id && one.source === source);
    await uninstallPlugin({ id, entry, force: true }, deps);
    throw new AppError(
      "PLUGIN_FAILED",
      `${id} was not installed: it cannot be loaded (${error ?? "it was not told why"}), and the ${id} that comes with the program stays in use`,
      {
        details: { pluginId: id },
      },
    );
  }
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
