import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "../../../base/errors.ts";
import { hostPackage, loadCreate } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";

export const create = defineCommand({
  positionals: "<folder>",
  options: {
    id: { type: "string", value: "id", help: "its id; the folder's name when left out" },
    name: { type: "string", value: "name", help: "its name for people" },
    template: { type: "string", value: "template", help: "tool (the default), hook, command or channel" },
    js: { type: "boolean", help: "JavaScript instead of TypeScript" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw plugins create ./word-count", does: "a plugin with a tool; its own npm test passes" },
    { line: "openclaw plugins create ./gatekeeper --template hook --js", does: "a hook, in JavaScript" },
  ],
  async run({ io, values, positionals }) {
    const folder = positionals[0];
    if (folder === undefined) throw new AppError("INVALID_INPUT", "expected the folder to make the plugin in");
    const hostRoot = hostPackage(fileURLToPath(import.meta.url));
    if (hostRoot === undefined) throw new AppError("UNAVAILABLE", "the package of openclaw cannot be found from here, so that a plugin could not find its SDK");
    const { createPlugin } = await loadCreate();
    const { id, name, template, js } = values;
    const made = createPlugin({ folder: resolve(io.cwd, folder), id, name, template, js, hostRoot, hostVersion: io.version });
    if (values.json) return printJson(io, { ok: true, ...made });
    if (made.files.length === 0) return io.out(`there is a plugin in ${made.folder} already: only ${made.link} was renewed\n`);
    io.out(`made the plugin ${made.id} in ${made.folder}: ${made.files.join(", ")}\n`);
    io.out(io.runnable(`next: (cd ${folder} && npm test) && openclaw plugins install ${folder} --link\n`));
  },
});
