import { defineCommand, JSON_OPTION } from "../../../command.ts";
import { printJson } from "../../../io.ts";
import { clearRests, restLine } from "./rests.ts";
import { AGENT_OPTION } from "./source.ts";

export const clear = defineCommand({
  positionals: "[id]",
  options: {
    provider: { type: "string", value: "id", help: "of this provider only" },
    agent: { ...AGENT_OPTION, help: "of this agent only (default: all agents)" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw models auth clear", does: "every credential may be tried again at once" },
    { line: "openclaw models auth clear --provider openai", does: "those of one provider" },
  ],
  async run({ io, values, positionals: [id] }) {
    const { rests, asked } = await clearRests(io, { agent: values.agent, provider: values.provider, id });
    if (values.json) return printJson(io, { cleared: rests, asked });
    if (rests.length === 0) io.out("Nothing rests.\n");
    for (const rest of rests) {
      const [name, , model, , why] = restLine(rest, io.now());
      io.out(`${name} may be used again for ${model} (${why})\n`);
    }
  },
});
