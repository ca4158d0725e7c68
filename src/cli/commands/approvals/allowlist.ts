import { AppError } from "../../../base/errors.ts";
import { defineCommand } from "../../command.ts";
import { printJson } from "../../io.ts";
import { changeRules, RULES_OPTIONS, withRules, type RulesFile } from "./source.ts";

const OPTIONS = { agent: { type: "string", value: "id", help: "for this agent only (default *: for every one)" }, ...RULES_OPTIONS } as const;

function patternOf([pattern, extra]: readonly string[]): string {
  const written = pattern?.trim() ?? "";
  if (written === "" || extra !== undefined)
    throw new AppError("INVALID_INPUT", "expected one pattern, such as /usr/bin/git; quotes keep the shell from reading its stars");
  return written;
}

const agentOf = (agent: string | undefined): string => agent?.trim().toLowerCase() || "*";

type Allowed = NonNullable<NonNullable<RulesFile["agents"]>[string]["allowlist"]>;

function withList(file: RulesFile, agent: string, edit: (list: Allowed) => Allowed): RulesFile {
  const own = file.agents?.[agent] ?? {};
  return { ...file, agents: { ...file.agents, [agent]: { ...own, allowlist: edit(own.allowlist ?? []) } } };
}

const toWhom = (agent: string): string => (agent === "*" ? "every agent" : `agent ${agent}`);

export const add = defineCommand({
  positionals: "<pattern>",
  options: OPTIONS,
  examples: [
    { line: "openclaw approvals allowlist add /usr/bin/uptime", does: "for every agent" },
    { line: "openclaw approvals allowlist add '/opt/tools/**' --agent main", does: "every program below a folder, for one" },
  ],
  async run({ io, values, positionals }) {
    const pattern = patternOf(positionals);
    const agent = agentOf(values.agent);
    if (!/[/\\~]/.test(pattern)) {
      throw new AppError(
        "INVALID_INPUT",
        `${JSON.stringify(pattern)} is a bare name, and those cover nothing: what a name means depends on PATH; give the program's path, as: command -v ${pattern} prints it`,
      );
    }
    const edit = (list: Allowed): Allowed => (list.some((entry) => entry.pattern === pattern) ? list : [...list, { pattern }]);
    const snapshot = await withRules(io, values, (source) => changeRules(source, (file) => withList(file, agent, edit)));
    if (values.json) printJson(io, snapshot);
    else io.out(`${pattern} runs unasked for ${toWhom(agent)}\n`);
  },
});

export const remove = defineCommand({
  positionals: "<pattern>",
  options: OPTIONS,
  examples: [{ line: "openclaw approvals allowlist add /usr/bin/uptime && openclaw approvals allowlist remove /usr/bin/uptime", does: "and no longer" }],
  async run({ io, values, positionals }) {
    const pattern = patternOf(positionals);
    const agent = agentOf(values.agent);
    const edit = (list: Allowed): Allowed => {
      const rest = list.filter((entry) => entry.pattern !== pattern);
      if (rest.length === list.length) throw new AppError("NOT_FOUND", `${pattern} is not on the list of ${toWhom(agent)}; see: openclaw approvals get`);
      return rest;
    };
    const snapshot = await withRules(io, values, (source) => changeRules(source, (file) => withList(file, agent, edit)));
    if (values.json) printJson(io, snapshot);
    else io.out(`${pattern} is asked about again for ${toWhom(agent)}\n`);
  },
});
