import { describeSchema } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson } from "../../io.ts";
import { describePlugins } from "../../plugin-sections.ts";

export const schema = defineCommand({
  options: { hints: { type: "boolean", help: "Print labels, help texts and hints for forms" }, json: JSON_OPTION },
  examples: [
    { line: "openclaw config schema > openclaw.schema.json", does: "Schema for completion in an editor" },
    { line: "openclaw config schema --hints", does: "Label, help text and flags of every key" },
  ],
  async run({ io, values }) {
    const { schema: described, hints } = await describeSchema(await describePlugins(io, loadFor(io)));
    printJson(io, values.hints ? hints : described);
  },
});
