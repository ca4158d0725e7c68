import { describeSchema } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";

export const schema = defineCommand({
  options: { hints: { type: "boolean", help: "labels, help texts and marks for forms instead" }, json: JSON_OPTION },
  examples: [
    { line: "openclaw config schema > openclaw.schema.json", does: "for an editor's completion" },
    { line: "openclaw config schema --hints", does: "label, help, sensitive, advanced of every key" },
  ],
  async run({ io, values }) {
    const { schema: described, hints } = await describeSchema();
    printJson(io, values.hints ? hints : described);
  },
});
