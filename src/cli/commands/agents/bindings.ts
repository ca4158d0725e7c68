/** Which messages an agent answers. */
import { AppError } from "../../../base/errors.ts";
import { escapeLine } from "../../../base/printable.ts";
import { loadRoster, type BindingMatch, type BindingPlan } from "../../../agent/index.ts";
import { defineCommand, JSON_OPTION, type Values } from "../../command.ts";
import { describeEdit } from "../../config-edit.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { channelId } from "../channels/source.ts";
import { readPeer } from "../route.ts";
import { agentKey, agentNamed, agentsOf, checkMatches, oneAgent, openAgents, parseBind } from "./source.ts";

const AGENT = { type: "string", value: "id", help: "Agent id, instead of the first argument" } as const;

const MATCH_OPTIONS = {
  agent: AGENT,
  bind: {
    type: "string",
    value: "channel[:account]",
    multiple: true,
    help: "All messages of an account; repeatable. telegram:* means every account",
  },
  channel: { type: "string", value: "id", help: "Channel, such as telegram" },
  account: { type: "string", value: "id", help: "Account that receives them (default: default; * for any)" },
  peer: { type: "string", value: "kind:id", help: "Chat: user:<id>, group:<id> or channel:<id>" },
  guild: { type: "string", value: "id", help: "Discord server" },
  team: { type: "string", value: "id", help: "Slack or Teams team" },
  role: { type: "string", value: "id", multiple: true, help: "Role of the sender; repeatable" },
} as const;

type MatchFlags = Omit<Values<typeof MATCH_OPTIONS>, "agent">;

/** What the flags match; undefined when they name nothing. */
function matchesFrom({ bind = [], channel, account, peer, guild, team, role }: MatchFlags): readonly BindingMatch[] | undefined {
  const details = [account, peer, guild, team, role].some((flag) => flag !== undefined);
  if (channel === undefined && details) throw new AppError("INVALID_INPUT", "--account, --peer, --guild, --team and --role need --channel");
  if (channel !== undefined && channel.trim() === "") throw new AppError("INVALID_INPUT", "--channel: expected a channel, such as telegram, found nothing");
  const chat = peer === undefined ? undefined : readPeer("peer", peer);
  const described: readonly BindingMatch[] =
    channel === undefined
      ? []
      : [
          {
            channel: channelId(channel),
            ...(account?.trim() ? { accountId: account.trim() } : {}),
            ...(chat ? { peer: { kind: chat.kind, id: String(chat.id) } } : {}),
            ...(guild?.trim() ? { guildId: guild.trim() } : {}),
            ...(team?.trim() ? { teamId: team.trim() } : {}),
            ...(role ? { roles: [...role] } : {}),
          },
        ];
  const all = [...bind.map(parseBind), ...described];
  return all.length === 0 ? undefined : all;
}

/** Why a binding was not added, and what to do. */
export function conflictText({ binding, agentId, path }: BindingPlan["conflicts"][number]): string {
  return `${binding} is already bound to agent "${agentId}" by ${path}. To change that, first run: openclaw agents unbind ${agentId} ${unbindFlags(binding)}`;
}

/** The flags of `agents unbind` for a binding, from its description. */
function unbindFlags(description: string): string {
  const [channel = "", ...fields] = description.split(" ");
  const names: Readonly<Record<string, string>> = { accountId: "account", peer: "peer", guildId: "guild", teamId: "team" };
  const flags = fields.flatMap((field) => {
    const [key = "", ...value] = field.split("=");
    if (key === "roles")
      return value
        .join("=")
        .split(",")
        .map((role) => `--role=${role}`);
    return names[key] === undefined ? [] : [`--${names[key]}=${value.join("=")}`];
  });
  return [`--channel ${channel}`, ...flags].join(" ");
}

export const bind = defineCommand({
  positionals: "<agent>",
  options: { ...MATCH_OPTIONS, json: JSON_OPTION },
  examples: [
    { line: "openclaw agents bind work --channel telegram --peer group:-1001234", does: "Route one group to this agent" },
    { line: "openclaw agents bind work --bind telegram:office", does: "Route everything an account receives" },
  ],
  async run({ io, values, positionals }) {
    using view = await openAgents(io);
    const agent = agentNamed(view.config, oneAgent(positionals, values.agent, "openclaw agents bind work --channel telegram"));
    const matches = matchesFrom(values);
    if (!matches)
      throw new AppError(
        "INVALID_INPUT",
        `expected a channel or account to bind, such as: openclaw agents bind ${agent.id} --channel telegram --peer group:<id>`,
      );
    const waiting = await checkMatches(io, view.config, matches);
    const plan = await view.roster.bind(agent.id, matches, "cli agents bind", { all: true });
    if (plan.conflicts.length > 0) {
      throw new AppError("CONFLICT", plan.conflicts.map(conflictText).join("\n"), { details: { conflicts: plan.conflicts } });
    }
    const { beatenBy } = await loadRoster();
    const notes = [...plan.add.flatMap((binding) => beatenBy(view.config, binding)), ...waiting];
    const result = await view.applied();
    if (values.json) return printJson(io, { agentId: agentKey(agent.id), added: plan.added, skipped: plan.skipped, conflicts: [], notes, ...result });
    const what = [...plan.added, ...plan.skipped].join("; ");
    io.out(io.runnable(describeEdit(`${agentKey(agent.id)} now answers ${escapeLine(what)}`, result)));
    for (const note of notes) io.err(`${note}\n`);
  },
});

export const unbind = defineCommand({
  positionals: "<agent>",
  options: { ...MATCH_OPTIONS, all: { type: "boolean", help: "Remove all bindings of the agent" }, json: JSON_OPTION },
  examples: [{ line: "openclaw agents unbind work --bind telegram:office", does: "Stop routing this account to the agent" }],
  async run({ io, values, positionals }) {
    using view = await openAgents(io);
    const agent = agentNamed(view.config, oneAgent(positionals, values.agent, "openclaw agents unbind work --channel telegram"));
    const matches = matchesFrom(values);
    if (matches && values.all) throw new AppError("INVALID_INPUT", "--all removes every binding of the agent; omit the other flags");
    if (!matches && !values.all) throw new AppError("INVALID_INPUT", "expected --bind, --channel or --all");
    const removed = await view.roster.unbind(agent.id, matches, "cli agents unbind");
    const { describeBinding } = await loadRoster();
    const descriptions = removed.map(describeBinding);
    if (matches && removed.length === 0) {
      throw new AppError(
        "NOT_FOUND",
        `agent "${agentKey(agent.id)}" has no such binding; list its bindings with: openclaw agents bindings ${agentKey(agent.id)}`,
      );
    }
    const result = await view.applied();
    if (values.json) return printJson(io, { agentId: agentKey(agent.id), removed: descriptions, ...result });
    io.out(io.runnable(describeEdit(`${agentKey(agent.id)} no longer answers ${escapeLine(descriptions.join("; ")) || "anything by a binding"}`, result)));
  },
});

export const bindings = defineCommand({
  positionals: "[agent]",
  options: { agent: AGENT, json: JSON_OPTION },
  examples: [{ line: "openclaw agents bindings", does: "All bindings, in the order of the file" }],
  async run({ io, values, positionals }) {
    using view = await openAgents(io);
    const named = positionals[0] ?? values.agent;
    const wanted = named === undefined ? undefined : agentKey(agentNamed(view.config, oneAgent(positionals, values.agent, "openclaw agents bindings work")).id);
    const { describeBinding } = await loadRoster();
    const rows = (view.config.bindings ?? []).flatMap(({ agentId, match }, index) =>
      wanted === undefined || agentKey(agentId) === wanted
        ? [{ path: `bindings[${index}]`, agentId: agentKey(agentId), match, description: describeBinding({ match }) }]
        : [],
    );
    if (values.json) return printJson(io, rows);
    if (rows.length === 0) {
      const all = agentsOf(view.config).length === 1 ? "the only agent answers all messages" : "the default agent answers all messages";
      return io.out(`No bindings${wanted === undefined ? "" : ` for ${wanted}`}: ${all}\n`);
    }
    io.out(
      formatTable(
        ["Binding", "Agent", "Answers"],
        rows.map(({ path, agentId, description }) => [path, agentId, description]),
        { style: createStyle(io.color), columns: io.columns, whole: true },
      ),
    );
  },
});
