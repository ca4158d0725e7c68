import { AppError } from "../../../base/errors.ts";
import { loadInstall, type Finding, type InstallResult } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { afterwards, fullAuthority, installing, openGuards } from "../../plugin-install.ts";
import { printable } from "./record.ts";

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
    await using guards = await openGuards(io);
    const { deps, edited } = installing(io, "cli plugins install", { quiet: values.json, hooks: guards?.hooks });
    const result = await installPlugin({ spec, link: values.link, pin: values.pin, force: values.force, dryRun: values["dry-run"] }, deps);
    if (values.json) return printJson(io, { ok: true, ...result, warning: fullAuthority(), gateway: afterwards(edited()) });
    tell(io, result, values.link ? "linked" : result.replaced ? "replaced" : "installed", afterwards(edited()));
  },
});

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
