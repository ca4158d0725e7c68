import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { AppError, fileError } from "../../../base/errors.ts";
import { parseValueText } from "../../../config/index.ts";
import { readInput } from "../../ask.ts";
import { defineCommand } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { printRules } from "./get.ts";
import { changeRules, RULES_OPTIONS, withRules, type RulesFile } from "./source.ts";

async function given(io: Io, { file, stdin }: { readonly file?: string | undefined; readonly stdin?: boolean | undefined }): Promise<RulesFile> {
  if ((file === undefined) === (stdin !== true)) throw new AppError("INVALID_INPUT", "expected the rules with --file <path> or --stdin, one of them");
  const path = file === undefined ? undefined : resolve(io.cwd, file);
  const text =
    path === undefined
      ? await readInput()
      : await readFile(path, "utf8").catch((error: unknown) => {
          throw fileError(path, "could not read the rules", error);
        });
  // The receiver validates the rest; without this check, `null` would be reported as text.
  const rules = parseValueText(text, { strict: true });
  if (typeof rules !== "object" || rules === null || Array.isArray(rules))
    throw new AppError("INVALID_INPUT", 'expected an object, such as { version: 1, defaults: { ask: "always" } }');
  return rules as RulesFile;
}

export const set = defineCommand({
  options: {
    file: { type: "string", value: "path", help: "the rules, as JSON5" },
    stdin: { type: "boolean", help: "the same from the standard input" },
    ...RULES_OPTIONS,
  },
  examples: [{ line: `echo '{ version: 1, defaults: { ask: "always" } }' | openclaw approvals set --stdin`, does: "ask about every command" }],
  async run({ io, values }) {
    const rules = await given(io, values);
    const snapshot = await withRules(io, values, (source) => changeRules(source, () => rules));
    if (values.json) printJson(io, snapshot);
    else printRules(io, snapshot);
  },
});
