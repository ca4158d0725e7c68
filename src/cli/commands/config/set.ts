import { AppError } from "../../../base/errors.ts";
import { parsePath, parseValueText } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { describeEdit, editConfig } from "../../config-edit.ts";
import { printJson } from "../../io.ts";

export const set = defineCommand({
  positionals: "<path> <value>",
  options: { json: { ...JSON_OPTION, help: "the value must be JSON5; print the result for machines" } },
  examples: [
    { line: "openclaw config set gateway.mode local", does: "a text" },
    { line: "openclaw config set gateway.port 19000", does: "a number" },
    { line: `openclaw config set agents.list '[{ id: "main", default: true }]'`, does: "anything JSON5 can say" },
  ],
  async run({ io, values, positionals }) {
    const [path, text, extra] = positionals;
    if (path === undefined || text === undefined || extra !== undefined) {
      throw new AppError("INVALID_INPUT", `expected a path and a value, got ${positionals.length} words; put quotes around a value with spaces`);
    }
    const result = await editConfig(
      io,
      { kind: "set", path: parsePath(path), value: parseValueText(text, { strict: values.json ?? false }) },
      "cli config set",
    );
    if (values.json) printJson(io, { ok: true, ...result });
    else io.out(io.runnable(describeEdit(`set ${path}`, result)));
  },
});
