import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson } from "../../io.ts";

export const file = defineCommand({
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw config file", does: "the path of the file, then what it includes" }],
  run({ io, values }) {
    const { snapshot, paths } = loadFor(io);
    const { path, exists, hash, files } = snapshot;
    if (values.json) printJson(io, { path, exists, hash, files, stateDir: paths.state });
    else for (const name of [path, ...files.filter((other) => other !== path)]) io.out(`${name}\n`);
    return Promise.resolve();
  },
});
