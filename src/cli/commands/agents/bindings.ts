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

const AGENT = { type: "string", value: "id", help: "the agent, instead of the first word" } as const;

const MATCH_OPTIONS = {
  agent: AGENT,
  bind: {
    type: "string",
    value: "channel[:account]",
    multiple: true,
    help: "all messages of an account; may be given several times. telegram:* is every account",
  },
  channel: { type: "string", value: "id", help: "messages of this channel, such as telegram" },
  account: { type: "string", value: "id", help: "that this account receives (default: default; * is any)" },
  peer: { type: "string", value: "kind:id", help: "in this chat: user:<id>, group:<id> or channel:<id>" },
  guild: { type: "string", value: "id", help: "on this Discord server" },
  team: { type: "string", value: "id", help: "in this Slack or Teams team" },
  role: { type: "string", value: "id", multiple: true, help: "of members with this role; may be given several times" },
} as const;

type MatchFlags = Omit<Values<typeof MATCH_OPTIONS>, "agent">;

/** What the flags match; undefined when they name nothing. */
function matchesFrom({ bind = [], channel, account, peer, guild, team, role }: MatchFlags): readonly BindingMatch[] | undefined {
  const details = [account, peer, guild, team, role].some((flag) => flag !== undefined);
  if (channel === undefined && details)
    throw new AppError("INVALID_INPUT", "--account, --peer, --guild, --team and --role are about a channel: name it with --channel");
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
  return `${binding} is bound to agent "${agentId}" already: ${path} stands above it and decides; to change that, first: openclaw agents unbind ${agentId} ${unbindFlags(binding)}`;
}

/** The flags that name a binding, from its words. */
function unbindFlags(words: string): string {
  const [channel = "", ...fields] = words.split(" ");
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
    { line: "openclaw agents bind work --channel telegram --peer group:-1001234", does: "one group goes to this agent" },
    { line: "openclaw agents bind work --bind telegram:office", does: "everything that an account receives" },
  ],
  async run({ io, values, positionals }) {
    using view = await openAgents(io);
    const agent = agentNamed(view.config, oneAgent(positionals, values.agent, "openclaw agents bind work --channel telegram"));
    const matches = matchesFrom(values);
    if (!matches) throw new AppError("INVALID_INPUT", `expected what to bind, such as: openclaw agents bind ${agent.id} --channel telegram --peer group:<id>`);
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
    io.out(io.runnable(describeEdit(`${agentKey(agent.id)} answers ${escapeLine(what)}`, result)));
    for (const note of notes) io.err(`${note}\n`);
  },
});

export const unbind = defineCommand({
  positionals: "<agent>",
  options: { ...MATCH_OPTIONS, all: { type: "boolean", help: "all bindings of the agent" }, json: JSON_OPTION },
  examples: [{ line: "openclaw agents unbind work --bind telegram:office", does: "these messages go to another agent again" }],
  async run({ io, values, positionals }) {
    using view = await openAgents(io);
    const agent = agentNamed(view.config, oneAgent(positionals, values.agent, "openclaw agents unbind work --channel telegram"));
    const matches = matchesFrom(values);
    if (matches && values.all) throw new AppError("INVALID_INPUT", "--all removes every binding of the agent; leave the other flags away");
    if (!matches && !values.all) throw new AppError("INVALID_INPUT", "expected what to unbind, with --bind or --channel, or --all");
    const removed = await view.roster.unbind(agent.id, matches, "cli agents unbind");
    const { describeBinding } = await loadRoster();
    const words = removed.map(describeBinding);
    if (matches && removed.length === 0) {
      throw new AppError("NOT_FOUND", `agent "${agentKey(agent.id)}" has no such binding; openclaw agents bindings ${agentKey(agent.id)} shows those it has`);
    }
    const result = await view.applied();
    if (values.json) return printJson(io, { agentId: agentKey(agent.id), removed: words, ...result });
    io.out(io.runnable(describeEdit(`${agentKey(agent.id)} no longer answers ${escapeLine(words.join("; ")) || "anything by a binding"}`, result)));
  },
});

export const bindings = defineCommand({
  positionals: "[agent]",
  options: { agent: AGENT, json: JSON_OPTION },
  examples: [{ line: "openclaw agents bindings", does: "all of them, in the order of the file" }],
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
      const all =
        agentsOf(view.config).length === 1 ? "the only agent answers everything" : "the default agent answers everything that no binding sends elsewhere";
      return io.out(`no bindings${wanted === undefined ? "" : ` of ${wanted}`}; ${all}\n`);
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
