import type { MethodResult } from "../../../protocol/index.ts";
import { builtinSubjects, groupsOf, type ToolSource } from "../../../tools/index.ts";
import { defineCommand } from "../../command.ts";
import { GATEWAY_OPTIONS } from "../../gateway-call.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { askGateway } from "./source.ts";

type Listed = Omit<MethodResult<"tools.catalog">["tools"][number], "parameters" | "description"> & { readonly description?: string };

function sourceOf({ source, pluginId = "" }: Listed): ToolSource {
  return source === "core" ? { kind: source } : { kind: source, id: pluginId };
}

function marksOf({ ownerOnly, optional }: Listed): string {
  return [...(ownerOnly ? ["owner only"] : []), ...(optional ? ["optional"] : [])].join(", ") || "-";
}

const builtin = (): readonly Listed[] => builtinSubjects().map(({ name, ownerOnly }) => ({ name, source: "core", ...(ownerOnly ? { ownerOnly } : {}) }));

export const list = defineCommand({
  options: { agent: { type: "string", value: "id", help: "what this agent could be given (default: the default one)" }, ...GATEWAY_OPTIONS },
  examples: [
    { line: "openclaw tools list", does: "name, origin and groups of every tool" },
    { line: "openclaw tools list --json", does: "the same, for machines; with a running gateway also what each takes" },
  ],
  async run({ io, values }) {
    const answer = await askGateway(io, values, (client) => client.request("tools.catalog", values.agent === undefined ? {} : { agentId: values.agent }));
    const found: readonly Listed[] = answer?.tools ?? builtin();
    if (values.json) {
      const tools = found.map((tool) => ({ ...tool, groups: groupsOf({ name: tool.name, source: sourceOf(tool) }) }));
      return printJson(io, { from: answer ? "gateway" : "configuration", count: tools.length, tools });
    }
    if (!answer) io.err("no gateway answers: these are the built-in tools that lists can name\n");
    const style = createStyle(io.color);
    const rows = found.map((tool) => [
      tool.name,
      tool.source === "core" ? "built in" : `${tool.source} ${tool.pluginId ?? ""}`.trim(),
      marksOf(tool),
      groupsOf({ name: tool.name, source: sourceOf(tool) }).join(" ") || "-",
    ]);
    io.out(formatTable(["Tool", "From", "Note", "Groups"], rows, { style, columns: io.columns }));
  },
});
