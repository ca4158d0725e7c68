import { AppError } from "../../../base/errors.ts";
import { parseValueText } from "../../../config/index.ts";
import { defineCommand } from "../../command.ts";
import { GATEWAY_OPTIONS, timeoutOf, withGateway } from "../../gateway-call.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";

export const call = defineCommand({
  positionals: "<method>",
  options: {
    params: { type: "string", value: "json5", help: "parameters of the method (default {})" },
    "expect-final": { type: "boolean", help: "wait for the end of what is only accepted at first" },
    ...GATEWAY_OPTIONS,
  },
  examples: [
    { line: "openclaw gateway call health", does: "a method without parameters" },
    { line: `openclaw gateway call sessions.list --params '{ limit: 5 }' --json`, does: "with parameters, for machines" },
  ],
  async run({ io, values, positionals }) {
    const [method, extra] = positionals;
    if (method === undefined || extra !== undefined) throw new AppError("INVALID_INPUT", `expected one method, got ${positionals.length} words`);
    const params = parseValueText(values.params ?? "{}", { strict: true });
    const expectFinal = values["expect-final"] ?? false;
    const result = await withGateway(io, values, (client) => client.call(method, params, { timeoutMs: timeoutOf(values), expectFinal }));
    if (!values.json) io.err(`${createStyle(io.color).dim(`gateway call: ${method}`)}\n`);
    printJson(io, result ?? null);
  },
});
