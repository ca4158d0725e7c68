import { formatLocated } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";

export const validate = defineCommand({
  options: { file: { type: "string", value: "path", help: "check this file instead" }, json: JSON_OPTION },
  examples: [
    { line: "openclaw config validate", does: "exit code 0 when the file is right" },
    { line: "openclaw config validate --json", does: "the issues for machines: path, line, column, expected, found" },
  ],
  run({ io, values }) {
    const { snapshot } = loadFor(io, values.file);
    const { path, exists, valid, issues, warnings, legacy } = snapshot;
    if (values.json) {
      printJson(io, { path, exists, valid, issues, warnings, legacy });
      return Promise.resolve(valid ? 0 : 1);
    }
    const style = createStyle(io.color);
    for (const issue of issues) io.out(`${style.red("error")}   ${formatLocated(issue)}\n`);
    for (const issue of warnings) io.out(`${style.yellow("warning")} ${formatLocated(issue)}\n`);
    if (!exists) io.out(`${style.yellow("none")}    ${path} does not exist; the defaults are in effect\n`);
    else if (valid) io.out(`${style.green("valid")}   ${path}${warnings.length > 0 ? ` (${warnings.length} to look at)` : ""}\n`);
    else io.out(`${style.red("invalid")} ${path}: ${issues.length} ${issues.length === 1 ? "error" : "errors"}\n`);
    return Promise.resolve(valid ? 0 : 1);
  },
});
