import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "../../../base/errors.ts";
import { hostPackage, loadCreate } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";

export const create = defineCommand({
  positionals: "<folder>",
  options: {
    id: { type: "string", value: "id", help: "Plugin id (default: the folder name)" },
    name: { type: "string", value: "name", help: "Display name" },
    template: { type: "string", value: "template", help: "Template: tool (default), hook, command or channel" },
    js: { type: "boolean", help: "Use JavaScript instead of TypeScript" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw plugins create ./word-count", does: "Create a plugin with a tool and a passing npm test" },
    { line: "openclaw plugins create ./gatekeeper --template hook --js", does: "Create a hook in JavaScript" },
  ],
  async run({ io, values, positionals }) {
    const folder = positionals[0];
    if (folder === undefined) throw new AppError("INVALID_INPUT", "expected a folder for the plugin");
    const hostRoot = hostPackage(fileURLToPath(import.meta.url));
    if (hostRoot === undefined)
      throw new AppError(
        "UNAVAILABLE",
        "the openclaw package was not found, so the plugin could not import its SDK; run this from an installed openclaw or a checkout",
      );
    const { createPlugin } = await loadCreate();
    const { id, name, template, js } = values;
    const made = createPlugin({ folder: resolve(io.cwd, folder), id, name, template, js, hostRoot, hostVersion: io.version });
    if (values.json) return printJson(io, { ok: true, ...made });
    if (made.files.length === 0) return io.out(`${made.folder} already has a plugin; only ${made.link} was updated\n`);
    io.out(`Created plugin ${made.id} in ${made.folder}: ${made.files.join(", ")}\n`);
    io.out(io.runnable(`Next: (cd ${folder} && npm test) && openclaw plugins install ${folder} --link\n`));
  },
});
