import { AppError } from "../../../base/errors.ts";
import { defineCommand } from "../../command.ts";
import { callGateway, GATEWAY_OPTIONS } from "../../gateway-call.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";

export const reload = defineCommand({
  positionals: "<id>",
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw plugins reload hello", does: "after its code was changed" }],
  async run({ io, values, positionals: [id] }) {
    if (id === undefined) throw new AppError("INVALID_INPUT", "expected the id of a plugin; openclaw plugins list shows them");
    // A plugin has ten seconds to load and ten to register.
    const answer = await callGateway(io, "plugins.reload", { id }, { ...values, timeout: values.timeout ?? "40000" });
    if (values.json) return printJson(io, answer);
    const style = createStyle(io.color);
    const { plugin, diagnostics } = answer;
    const state = plugin.status === "loaded" ? style.green(`loaded, generation ${plugin.generation}`) : style.dim(plugin.reason ?? plugin.status);
    io.out(`${plugin.id}: ${state}\n`);
    for (const { level, message } of diagnostics) io.out(`  ${level === "error" ? style.red(level) : style.yellow(level)} ${message}\n`);
  },
});
