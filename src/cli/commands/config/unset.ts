import { AppError } from "../../../base/errors.ts";
import { hasPath, parsePath } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { describeEdit, editConfig } from "../../config-edit.ts";
import { loadFor } from "../../config-source.ts";
import { printJson } from "../../io.ts";

export const unset = defineCommand({
  positionals: "<path>",
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw config unset gateway.port", does: "back to the default" }],
  async run({ io, values, positionals }) {
    const [path, extra] = positionals;
    if (path === undefined || extra !== undefined) throw new AppError("INVALID_INPUT", `expected one path, got ${positionals.length} words`);
    const segments = parsePath(path);
    if (!hasPath(loadFor(io).snapshot.resolved, segments)) throw new AppError("NOT_FOUND", `Config path not found: ${path}; the file does not set it`);
    const result = await editConfig(io, { kind: "unset", path: segments }, "cli config unset");
    if (values.json) printJson(io, { ok: true, ...result });
    else io.out(io.runnable(describeEdit(`removed ${path}`, result)));
  },
});
