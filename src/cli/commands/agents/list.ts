import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadRoster } from "../../../agent/index.ts";
import { agentFolder, agentWorkspace, defaultAgentId, type OpenClawConfig } from "../../../config/index.ts";
import { inspectStore } from "../../../store/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { agentKey, agentsOf, openAgents, type Agent, type AgentsView } from "./source.ts";

interface ListedAgent {
  readonly id: string;
  readonly name?: string;
  readonly identityName?: string;
  readonly identityEmoji?: string;
  readonly identitySource?: "config" | "identity";
  readonly workspace: string;
  readonly agentDir: string;
  readonly model?: string;
  /** How many. */
  readonly bindings: number;
  readonly bindingDetails?: readonly string[];
  readonly isDefault: boolean;
  /** What it answers, in words. */
  readonly routes: readonly string[];
  readonly sessions: number;
}

/** The model that is configured; undefined when the gateway chooses one. */
function modelOf(agent: Agent, config: OpenClawConfig): string | undefined {
  const primary = (model: Agent["model"]): string | undefined => (typeof model === "string" ? model : model?.primary);
  return primary(agent.model) ?? primary(config.agents?.defaults?.model);
}

type Identity = Pick<ListedAgent, "identityName" | "identityEmoji" | "identitySource">;

/** Who it appears as: what the configuration says, else its IDENTITY.md. */
function identityOf({ identity }: Agent, workspace: string, parse: (text: string) => { readonly name?: string; readonly emoji?: string }): Identity {
  const said = (
    found: { readonly name?: string | undefined; readonly emoji?: string | undefined },
    identitySource: "config" | "identity",
  ): Identity | undefined =>
    found.name || found.emoji
      ? { ...(found.name ? { identityName: found.name } : {}), ...(found.emoji ? { identityEmoji: found.emoji } : {}), identitySource }
      : undefined;
  if (identity?.name || identity?.emoji) return said(identity, "config") ?? {};
  try {
    return said(parse(readFileSync(join(workspace, "IDENTITY.md"), "utf8")), "identity") ?? {};
  } catch {
    // Not there, or not to be read: then nothing is known.
    return {};
  }
}

async function listed({ config, context, stateDir }: AgentsView, withBindings: boolean): Promise<readonly ListedAgent[]> {
  const { describeBinding, parseIdentity } = await loadRoster();
  using state = inspectStore(stateDir);
  return agentsOf(config).map((agent) => {
    const id = agentKey(agent.id);
    const details = (config.bindings ?? []).filter(({ agentId }) => agentKey(agentId) === id).map(describeBinding);
    const isDefault = defaultAgentId(config) === id;
    const workspace = agentWorkspace(config, context, id);
    const model = modelOf(agent, config);
    return {
      id,
      ...(agent.name === undefined ? {} : { name: agent.name }),
      ...identityOf(agent, workspace, parseIdentity),
      workspace,
      agentDir: agentFolder(context, agent),
      ...(model === undefined ? {} : { model }),
      bindings: details.length,
      ...(withBindings ? { bindingDetails: details } : {}),
      isDefault,
      routes: [...details, ...(isDefault ? ["default: all messages without a binding"] : [])],
      sessions: state?.read("sessions.list", { agentId: id, limit: 1 }).total ?? 0,
    };
  });
}

function print(io: Io, agents: readonly ListedAgent[], withBindings: boolean): void {
  const style = createStyle(io.color);
  const rows = agents.map(({ id, name, identityName, identityEmoji, model, bindings, sessions, isDefault, workspace }) => [
    isDefault ? `${style.bold(id)} (default)` : id,
    [identityEmoji, name ?? identityName].filter((part) => part !== undefined).join(" ") || "-",
    model ?? "chosen by the gateway",
    String(bindings),
    String(sessions),
    workspace,
  ]);
  io.out(formatTable(["Agent", "Name", "Model", "Bindings", "Sessions", "Workspace"], rows, { style, columns: io.columns, whole: true }));
  if (!withBindings) return;
  const routes = agents.flatMap(({ id, routes: all }) =>
    all.length === 0 ? [[id, style.dim("none; add one with: openclaw agents bind")]] : all.map((route) => [id, route]),
  );
  io.out(io.runnable(`\n${formatTable(["Agent", "Answers"], routes, { style, columns: io.columns, whole: true })}`));
}

export const list = defineCommand({
  options: {
    bindings: { type: "boolean", help: "Also show which messages each agent answers" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw agents list --bindings", does: "All agents and their bindings" },
    { line: "openclaw agents list --json", does: "Print JSON" },
  ],
  async run({ io, values }) {
    using view = await openAgents(io);
    const withBindings = values.bindings ?? false;
    const agents = await listed(view, withBindings);
    if (values.json) printJson(io, agents);
    else print(io, agents, withBindings);
  },
});

export const templates = defineCommand({
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw agents templates", does: "List the agent templates" }],
  async run({ io, values }) {
    const { TEMPLATES } = await loadRoster();
    const rows = TEMPLATES.map((template) => ({
      template,
      facts: { id: template.id, name: template.label, emoji: template.identity.emoji ?? "", theme: template.identity.theme ?? "" },
    }));
    if (values.json) {
      return printJson(
        io,
        rows.map(({ template, facts }) => ({
          id: template.id,
          label: template.label,
          summary: template.summary,
          files: Object.keys(template.files(facts)),
          settings: template.settings(facts),
        })),
      );
    }
    const layout = { style: createStyle(io.color), columns: io.columns, whole: true };
    io.out(
      formatTable(
        ["Template", "For", "Description"],
        rows.map(({ template: { id, label, summary } }) => [id, label, summary]),
        layout,
      ),
    );
  },
});
