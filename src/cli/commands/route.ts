import { AppError } from "../../base/errors.ts";
import { nearest } from "../../base/text.ts";
import {
  type PeerKind,
  type RoutePeer,
  type RouteLocation,
  createRouting,
  type Explanation,
  type Route,
  type TierStep,
  type BindingOutcome,
} from "../../routing/index.ts";
import { formatLocated } from "../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../command.ts";
import { loadFor, requireValid } from "../config-source.ts";
import { printJson, type Io } from "../io.ts";
import { createStyle, type Style } from "../output/style.ts";
import { formatFacts, formatTable } from "../output/table.ts";
import { escapeLine } from "../../base/printable.ts";

/** Words for kinds of chats that a person may write. */
const KINDS: Readonly<Record<string, PeerKind>> = { user: "direct", direct: "direct", dm: "direct", group: "group", channel: "channel" };

/** A chat that a flag names, such as `group:-100`. */
export function readPeer(option: string, written: string): RoutePeer {
  const colon = written.indexOf(":");
  const word = written.slice(0, Math.max(colon, 0)).trim().toLowerCase();
  const kind = Object.hasOwn(KINDS, word) ? KINDS[word] : undefined;
  const id = written.slice(colon + 1);
  if (kind !== undefined && id !== "") return { kind, id };
  const meant = kind === undefined && colon > 0 ? nearest(word, Object.keys(KINDS)) : undefined;
  const advice = meant === undefined ? "such as user:123, group:-1001 or channel:C042" : `did you mean ${meant}:${id}?`;
  throw new AppError("INVALID_INPUT", `--${option}: expected a kind and an id, found ${JSON.stringify(written)}; ${advice}`);
}

/** The message that the flags describe. */
interface WrittenPlace {
  readonly channel?: string;
  readonly account?: string;
  readonly peer?: string;
  readonly group?: string;
  readonly parent?: string;
  readonly thread?: string;
  readonly guild?: string;
  readonly team?: string;
  readonly role?: readonly string[];
}

/** The chat that the options name. With `--group` it is the group, regardless of the sender. */
function chatFromOptions(values: WrittenPlace): RouteLocation {
  const { channel, account, peer, group, parent, thread, guild, team, role } = values;
  if (channel === undefined || channel.trim() === "") {
    throw new AppError("INVALID_INPUT", "--channel is missing: say where the message is written, such as --channel telegram");
  }
  const sender = peer === undefined ? undefined : readPeer("peer", peer);
  if (group !== undefined && sender && sender.kind !== "direct") {
    throw new AppError("INVALID_INPUT", `--group and --peer ${sender.kind}:${sender.id} name two chats; use only one of them`);
  }
  if (group === "") throw new AppError("INVALID_INPUT", "--group: expected the id of a group, found nothing");
  const chat: RoutePeer | undefined = group === undefined ? sender : { kind: "group", id: group };
  if (!chat && (thread !== undefined || parent !== undefined)) {
    throw new AppError("INVALID_INPUT", "--thread needs the chat: add --peer or --group");
  }
  return {
    channel,
    accountId: account,
    peer: chat,
    parentPeer: parent === undefined ? undefined : readPeer("parent", parent),
    threadId: thread,
    guildId: guild,
    teamId: team,
    roles: role,
  };
}

function facts(route: Route & Explanation, style: Style): string {
  const { broadcast } = route;
  const all: readonly (readonly [string, string | undefined])[] = [
    ["agent", broadcast ? broadcast.agents.map(({ agentId }) => agentId).join(", ") : style.bold(route.agentId)],
    ["session", broadcast ? broadcast.agents.map(({ sessionKey }) => sessionKey).join(", ") : route.sessionKey],
    ["because", route.session],
    ["thread of", broadcast ? undefined : route.parentSessionKey],
    ["account", route.accountId],
    ["matched by", broadcast ? `broadcast, ${broadcast.strategy}` : route.matchedBy],
    ["binding", broadcast ? `broadcast[${JSON.stringify(broadcast.chatId)}]; without it ${route.agentId} by ${route.matchedBy}` : route.binding?.path],
  ];
  const present = all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return formatFacts(
    present.map(([name, value]) => [name, name === "agent" ? value : escapeLine(value)]),
    style,
  );
}

function tierRow({ tier, state, note }: TierStep, style: Style): readonly string[] {
  const result = { matched: style.green("matched"), none: "no binding", skipped: style.dim("skipped") }[state];
  return [tier, result, note ?? ""];
}

function bindingRow(verdict: BindingOutcome, style: Style): readonly string[] {
  const about = [verdict.path, verdict.agentId, verdict.tier];
  if (verdict.state === "chosen") return [...about, style.green("chosen"), ""];
  if (verdict.state === "beaten") return [...about, style.yellow("matches, too"), `${verdict.by} ${verdict.why}`];
  return [...about, "no", escapeLine(`${verdict.field} is ${verdict.expected}, here it is ${verdict.found}`)];
}

function print(io: Io, route: Route & Explanation): void {
  const style = createStyle(io.color);
  const layout = { style, columns: io.columns };
  const own = route.bindings.filter((one) => one.state !== "refused" || one.field !== "channel");
  const elsewhere = route.bindings.length - own.length;
  io.out(`${facts(route, style)}\n`);
  io.out(
    formatTable(
      ["Tier", "Result", "Note"],
      route.explanation.map((step) => tierRow(step, style)),
      layout,
    ),
  );
  if (own.length > 0) {
    const rows = own.map((one) => bindingRow(one, style));
    io.out(`\n${formatTable(["Binding", "Agent", "Tier", "Result", "Why"], rows, layout)}`);
  }
  if (elsewhere > 0) io.out(`\n${style.dim(`${elsewhere === 1 ? "1 binding is" : `${elsewhere} bindings are`} for other channels`)}\n`);
}

export const explain = defineCommand({
  options: {
    channel: { type: "string", value: "id", help: "Channel, such as telegram" },
    account: { type: "string", value: "id", help: "Account (default: default)" },
    peer: { type: "string", value: "kind:id", help: "Chat: user:<id>, group:<id> or channel:<id>" },
    group: { type: "string", value: "id", help: "Short for --peer group:<id>; --peer can then be the sender" },
    thread: { type: "string", value: "id", help: "Thread or topic of the chat" },
    parent: { type: "string", value: "kind:id", help: "Parent chat of a thread that has its own id" },
    guild: { type: "string", value: "id", help: "Discord server" },
    team: { type: "string", value: "id", help: "Slack or Teams team" },
    role: { type: "string", value: "id", multiple: true, help: "Role of the sender; repeatable" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw route explain --channel telegram --account default --peer user:123", does: "Test the route for a person" },
    { line: "openclaw route explain --channel telegram --group=-100123 --thread 7", does: "Topic of a group; use = for a value that starts with a dash" },
    { line: "openclaw route explain --channel discord --peer channel:42 --guild 1 --role 99 --json", does: "Member of a server with a role, as JSON" },
  ],
  async run({ io, values }) {
    const chat = chatFromOptions(values);
    const { snapshot } = loadFor(io);
    requireValid(snapshot, formatLocated);
    const route = createRouting().explainRoute({ config: snapshot.config, ...chat });
    if (values.json) printJson(io, route);
    else print(io, route);
  },
});
