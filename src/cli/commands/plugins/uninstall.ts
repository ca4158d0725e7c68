import { AppError } from "../../../base/errors.ts";
import { loadInstall } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";
import { afterwards, installing } from "../../plugin-install.ts";
import { loadPlugins } from "../../plugin-source.ts";

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
