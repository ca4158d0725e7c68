import { resolve } from "node:path";
import { AppError } from "../../../base/errors.ts";
import { escapeLine } from "../../../base/printable.ts";
import { loadRoster, type AddedAgent } from "../../../agent/index.ts";
import { expandHome } from "../../../config/index.ts";
import { inspectStore } from "../../../store/index.ts";
import { defineCommand, JSON_OPTION, type Values } from "../../command.ts";
import { describeAnswer, type GatewayAnswer } from "../../gateway-answer.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { conflictText } from "./bindings.ts";
import { askForAgent } from "./questions.ts";
import { checkMatches, openAgents, parseBind, type AgentsView } from "./source.ts";

const OPTIONS = {
  workspace: { type: "string", value: "dir", help: "Workspace folder (default: workspace-<id> in the state folder; required with --non-interactive)" },
  model: { type: "string", value: "id", help: "Model, as provider/model or an alias (default: the default model)" },
  "agent-dir": { type: "string", value: "dir", help: "Folder for its credentials (default: agents/<id>/agent in the state folder)" },
  bind: { type: "string", value: "channel[:account]", multiple: true, help: "Route messages of this channel or account to it; repeatable" },
  template: { type: "string", value: "name", help: "Template to start from; openclaw agents templates lists them" },
  "non-interactive": { type: "boolean", help: "Don't ask questions" },
  json: JSON_OPTION,
} as const;

export type AddValues = Values<typeof OPTIONS>;

/** A name becomes an id and the name of a folder. */
function checkName(name: string): string {
  if (/[\\/]|\.\./.test(name)) {
    throw new AppError("INVALID_INPUT", `${JSON.stringify(name.slice(0, 80))} is not a valid agent name: use letters, digits, spaces, "_" and "-"`);
  }
  return name;
}

/** The model that the flag names, in its full form. Refuses unknown ones. */
async function checkedModel(io: Io, written: string | undefined): Promise<string | undefined> {
  if (written === undefined) return undefined;
  const { namedModel, openModels, warnAboutUnlisted, warnAboutWindow } = await import("../models/source.ts");
  const view = await openModels(io);
  const ref = namedModel(view, written);
  warnAboutUnlisted(io, view, ref);
  warnAboutWindow(io, view, ref);
  return view.choice.formatRef(ref);
}

/** Conversations of an agent that had this id before. */
function earlierSessions({ stateDir }: AgentsView, agentId: string): number {
  using state = inspectStore(stateDir);
  return state?.read("sessions.list", { agentId, limit: 1 }).total ?? 0;
}

function show(io: Io, added: AddedAgent, gateway: GatewayAnswer, notes: readonly string[]): void {
  const style = createStyle(io.color);
  const { agentId, name, workspace, bindings, template, made } = added;
  const row = (label: string, value: string): string => `  ${label.padEnd(10)} ${escapeLine(value)}\n`;
  io.out(
    `Added agent ${style.bold(agentId)}${name.toLowerCase() === agentId ? "" : ` (${escapeLine(name)})`}${template ? `, from the template ${template.id}` : ""}\n`,
  );
  io.out(row("workspace", `${workspace}${made.length > 0 ? ` (${made.join(", ")})` : " (existing files kept)"}`));
  for (const binding of bindings.added) io.out(row("answers", binding));
  for (const binding of bindings.skipped) io.out(row("answers", `${binding} (already bound)`));
  for (const conflict of bindings.conflicts) io.err(`${style.yellow("warning:")} ${conflictText(conflict)}\n`);
  for (const note of notes) io.err(`${note}\n`);
  io.out(io.runnable(`\n${describeAnswer(gateway)}\nTry it:  openclaw agent --agent ${agentId} --message "hello"\n`));
}

export const add = defineCommand({
  positionals: "[name]",
  options: OPTIONS,
  examples: [
    { line: "openclaw agents add coder --template coder", does: "Add a coding agent with its own workspace" },
    {
      line: "openclaw agents add night --workspace ~/night --bind telegram --non-interactive --json",
      does: "Add an agent for a channel, from a script",
    },
  ],
  async run({ io, values, positionals }) {
    if (positionals.length > 1) throw new AppError("INVALID_INPUT", `expected one name, got ${positionals.length} words; quote a name with spaces`);
    const silent = values["non-interactive"] === true || values.json === true || !io.interactive;
    if (values["non-interactive"] && !values.workspace?.trim())
      throw new AppError("INVALID_INPUT", "--non-interactive needs --workspace with the folder of the agent's files");
    const isFlagged = values.workspace !== undefined || values.model !== undefined || values.template !== undefined || values.bind !== undefined;
    using view = await openAgents(io);
    const answers = silent || (positionals[0] !== undefined && isFlagged) ? undefined : await askForAgent(io, view, { name: positionals[0], values });
    if (answers === "left") return 0;
    const name = answers?.name ?? positionals[0];
    if (name === undefined || name.trim() === "") throw new AppError("INVALID_INPUT", "expected a name, such as: openclaw agents add work");
    return addOne(io, view, checkName(name), answers?.values ?? values);
  },
});

async function addOne(io: Io, view: AgentsView, name: string, values: AddValues): Promise<number> {
  const { idFor } = view.roster;
  if (values.template !== undefined) (await loadRoster()).templateNamed(values.template);
  const matches = (values.bind ?? []).map(parseBind);
  const waiting = await checkMatches(io, view.config, matches);
  const model = await checkedModel(io, values.model);
  const agentId = idFor(name);
  const earlier = earlierSessions(view, agentId);
  const folder = (written: string | undefined): string | undefined => (written?.trim() ? resolve(io.cwd, expandHome(written.trim(), view.home)) : undefined);
  const added = await view.roster.add(
    { name, workspace: folder(values.workspace), agentDir: folder(values["agent-dir"]), model, template: values.template, bindings: matches },
    "cli agents add",
  );
  const resumed =
    earlier === 0
      ? []
      : [
          `${earlier === 1 ? "1 session" : `${earlier} sessions`} of an earlier agent ${agentId} still exist and are used again. See them with: openclaw sessions --agent ${agentId}`,
        ];
  const notes = [...added.notes, ...waiting, ...resumed];
  const { gateway } = await view.applied();
  if (!values.json) show(io, added, gateway, notes);
  else {
    const { workspace, agentDir, bindings, made, template } = added;
    const conflicts = bindings.conflicts.map(({ binding, agentId: other }) => `${binding} (agent=${other})`);
    printJson(io, {
      agentId,
      name: added.name,
      workspace,
      agentDir,
      bindings: { added: bindings.added, skipped: bindings.skipped, conflicts },
      ...(template ? { template: template.id } : {}),
      ...(model === undefined ? {} : { model }),
      made,
      notes,
      gateway,
    });
  }
  return 0;
}
