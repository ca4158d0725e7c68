import { describeSchema } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson } from "../../io.ts";
import { describePlugins } from "../../plugin-sections.ts";

export const schema = defineCommand({
  options: { hints: { type: "boolean", help: "labels, help texts and marks for forms instead" }, json: JSON_OPTION },
  examples: [
    { line: "openclaw config schema > openclaw.schema.json", does: "for an editor's completion" },
    { line: "openclaw config schema --hints", does: "label, help, sensitive, advanced of every key" },
  ],
  async run({ io, values }) {
    const { schema: described, hints } = await describeSchema(await describePlugins(io, loadFor(io)));
    printJson(io, values.hints ? hints : described);
  },
});
