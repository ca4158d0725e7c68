import { defineCommand } from "../../command.ts";
import { GATEWAY_OPTIONS } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle, type Style } from "../../output/style.ts";
import { formatFacts, formatTable } from "../../output/table.ts";
import { explained, type Explained } from "./source.ts";

type Row = Explained["tools"][number];

const verdict = ({ allowed }: Row, style: Style): string => (allowed ? style.green("yes") : style.red("no"));

function printOne(io: Io, { sessionKey, agentId }: Explained, row: Row): void {
  const style = createStyle(io.color);
  const facts: (readonly [string, string | undefined])[] = [
    ["tool", style.bold(row.name)],
    ["from", row.source],
    ["session", sessionKey],
    ["agent", agentId],
    ["allowed", verdict(row, style)],
    ["decided by", row.layer],
    ["path", row.path],
    ["entry", row.entry],
    ["why", row.why],
  ];
  io.out(
    formatFacts(
      facts.filter((fact): fact is readonly [string, string] => fact[1] !== undefined),
      style,
    ),
  );
}

function printAll(io: Io, { sessionKey, tools }: Explained): void {
  const style = createStyle(io.color);
  const rows = tools.map((row) => [row.name, verdict(row, style), row.layer ?? "-", row.why]);
  io.out(`${style.dim("session")}  ${sessionKey}\n\n${formatTable(["Tool", "Allowed", "Decided by", "Why"], rows, { style, columns: io.columns })}`);
}

function printFile(io: Io, { path, read, write }: NonNullable<Explained["file"]>): void {
  const style = createStyle(io.color);
  const shown = ({ decision, why }: typeof read): string => `${decision}: ${why}`;
  io.out(
    `\n${formatFacts(
      [
        ["file", style.bold(path)],
        ["read", shown(read)],
        ["write", shown(write)],
      ],
      style,
    )}`,
  );
}

export const explain = defineCommand({
  positionals: "[tool]",
  options: {
    session: { type: "string", value: "key", help: "for this session (default: the agent's main one)" },
    agent: { type: "string", value: "id", help: "for this agent (default: the default one)" },
    path: { type: "string", value: "file", help: "also: whether this file may be read and written" },
    ...GATEWAY_OPTIONS,
  },
  examples: [
    { line: "openclaw tools explain", does: "every tool of the main session" },
    { line: "openclaw tools explain exec", does: "one tool, with the path in the configuration that decided" },
    { line: "openclaw tools explain write --path ~/notes.txt", does: "whether the agent may write this file, and why" },
    { line: "openclaw tools explain exec --session agent:main:whatsapp:group:120363@g.us --json", does: "in a group, for machines" },
  ],
  async run({ io, values, positionals: [tool] }) {
    const found = await explained(io, { agent: values.agent, session: values.session, tool, path: values.path }, values);
    if (values.json) return printJson(io, found);
    if (found.from === "configuration") io.err("no gateway answers: this is what the configuration says about the built-in tools\n");
    const [row] = found.tools;
    if (tool !== undefined && row) printOne(io, found, row);
    else printAll(io, found);
    if (found.file) printFile(io, found.file);
  },
});
