/**
 * Members of `api.runtime` that other modules implement. They always exist, so that a plugin can pass them on. A module puts its members into
 * `RuntimePorts.parts`; where it is missing, or does not run as on the command line, they answer `UNAVAILABLE` when they are called.
 */
import { AppError } from "../../base/errors.ts";
import { INGRESS_INSTEAD } from "../sdk/unbuilt.ts";

interface Pending {
  /** Answer at once, as the real ones do. */
  readonly now?: readonly string[];
  /** Answer with a promise. */
  readonly later?: readonly string[];
  /** Why they are missing although the module exists, and what to use instead. */
  readonly instead?: string;
}

const branded = <C extends string, M extends string>(channel: C, ...members: readonly M[]): `channel.${C}.${M}`[] =>
  members.map((member) => `channel.${channel}.${member}` as const);

/** What channels do for plugins. */
const IN_GATEWAY = "works in a running gateway only: it uses the channel that runs there";

export const PENDING = {
  routing: { now: ["channel.routing.resolveAgentRoute", "channel.routing.buildAgentSessionKey"] },
  conversation: {
    now: ["channel.reply.createReplyDispatcherWithTyping"],
    later: [
      "channel.reply.dispatchReplyWithBufferedBlockDispatcher",
      "channel.reply.dispatchReplyFromConfig",
      "channel.inbound.buildContext",
      "channel.inbound.run",
      "channel.inbound.dispatch",
      "channel.inbound.dispatchReply",
      "channel.inbound.runPreparedReply",
    ],
  },
  ingress: {
    now: ["state.openChannelIngressQueue", "state.openChannelIngressDrain"],
    later: ["channel.inbound.ingress.resolve", "channel.inbound.ingress.resolveStable", "channel.inbound.ingress.createResolver"],
    instead: INGRESS_INSTEAD,
  },
  "channels (pairing)": { later: ["channel.pairing.readAllowFromStore", "channel.pairing.upsertPairingRequest"] },
  "channels (outbound)": { later: ["channel.outbound.loadAdapter"] },
  memory: { now: ["tools.createMemoryGetTool", "tools.createMemorySearchTool", "tools.registerMemoryCli"] },
  media: {
    later: ["tts.textToSpeechTelephony", "tts.textToSpeech", "tts.textToSpeechStream", "tts.prepareTtsRequest", "mediaUnderstanding.transcribeAudioFile"],
  },
  models: { later: ["llm.complete"] },
  agent: {
    later: [
      "agent.runCommandFromIngress",
      "agent.runEmbeddedAgent",
      "agent.ensureAgentWorkspace",
      "subagent.run",
      "subagent.waitForRun",
      "subagent.getSessionMessages",
      "subagent.deleteSession",
      "subagent.complete",
    ],
  },
  gateway: { later: ["gateway.request"] },
  discord: {
    later: branded(
      "discord",
      "listDirectoryGroupsLive",
      "listDirectoryPeersLive",
      "probeDiscord",
      "resolveChannelAllowlist",
      "resolveUserAllowlist",
      "sendMessageDiscord",
      "sendPollDiscord",
    ),
    instead: IN_GATEWAY,
  },
  slack: {
    later: branded(
      "slack",
      "listDirectoryGroupsLive",
      "listDirectoryPeersLive",
      "probeSlack",
      "resolveChannelAllowlist",
      "resolveUserAllowlist",
      "sendMessageSlack",
    ),
    instead: IN_GATEWAY,
  },
  telegram: { later: branded("telegram", "probeTelegram", "sendMessageTelegram", "sendPollTelegram"), instead: IN_GATEWAY },
  signal: { later: branded("signal", "probeSignal", "sendMessageSignal"), instead: IN_GATEWAY },
  imessage: { later: branded("imessage", "probeIMessage", "sendMessageIMessage"), instead: IN_GATEWAY },
  whatsapp: { later: branded("whatsapp", "sendMessageWhatsApp", "sendPollWhatsApp"), instead: IN_GATEWAY },
  "channels (connections)": {
    now: branded("whatsapp", "getActiveWebListener", "getWebAuthAgeMs", "logWebSelfId", "readWebSelfId", "createLoginTool"),
    later: [
      ...branded("discord", "auditChannelPermissions", "monitorDiscordProvider"),
      ...branded("slack", "monitorSlackProvider", "handleSlackAction"),
      ...branded("telegram", "auditGroupMembership", "monitorTelegramProvider"),
      ...branded("signal", "monitorSignalProvider"),
      ...branded("imessage", "monitorIMessageProvider"),
      ...branded("whatsapp", "logoutWeb", "webAuthExists", "loginWeb", "startWebLoginWithQr", "waitForWebLogin", "monitorWebChannel", "handleWhatsAppAction"),
    ],
    instead: "is not available: the gateway runs this channel itself. A plugin can send through it; see docs/not-supported.md",
  },
  line: {
    now: branded("line", "createQuickReplyItems", "buildTemplateMessageFromPayload"),
    later: branded(
      "line",
      "probeLineBot",
      "sendMessageLine",
      "pushMessageLine",
      "pushMessagesLine",
      "pushFlexMessage",
      "pushTemplateMessage",
      "pushLocationMessage",
      "pushTextMessageWithQuickReplies",
      "monitorLineProvider",
    ),
    instead: "is not available: OpenClaw brings no LINE channel. Install a plugin that brings its own",
  },
} as const satisfies Readonly<Record<string, Pending>>;

type Members<T> = T extends { readonly now: readonly (infer A)[]; readonly later: readonly (infer B)[] }
  ? A | B
  : T extends { readonly now: readonly (infer A)[] }
    ? A
    : T extends { readonly later: readonly (infer B)[] }
      ? B
      : never;

/** Dotted place of a pending member. */
export type PendingPath = Extract<{ [Module in keyof typeof PENDING]: Members<(typeof PENDING)[Module]> }[keyof typeof PENDING], string>;

interface Row {
  readonly module: string;
  readonly later: boolean;
  readonly instead: string | undefined;
}

const ROWS: ReadonlyMap<string, Row> = new Map(
  Object.entries<Pending>(PENDING).flatMap(([module, { now = [], later = [], instead }]): [string, Row][] => [
    ...now.map((path): [string, Row] => [path, { module, later: false, instead }]),
    ...later.map((path): [string, Row] => [path, { module, later: true, instead }]),
  ]),
);

/** Members that are not part of this version, whatever runs. */
export const ABSENT = [PENDING["channels (connections)"], PENDING.line].flatMap(({ now, later }): readonly string[] => [...now, ...later]);

/** The places of all pending members below one, such as `channel.discord.`. */
export const pendingBelow = (prefix: string): readonly PendingPath[] => [...ROWS.keys()].filter((path): path is PendingPath => path.startsWith(prefix));

export type PendingParts = Readonly<Partial<Record<PendingPath, (...args: never[]) => unknown>>>;

/** Gives a member by its place. It is typed to fit wherever one is wanted. */
export type PendingMember = (path: PendingPath) => never;

/** Gives the member if its module provides it, otherwise one that says which module is missing. */
export function pendingMembers(parts: PendingParts = {}): PendingMember {
  return (path) => {
    const given = parts[path];
    if (given) return given as never;
    const { module = path, later = false, instead } = ROWS.get(path) ?? {};
    const why = instead ?? `needs "${module}", which this gateway does not have yet; a newer version may`;
    const refuse = (): never => {
      throw new AppError("UNAVAILABLE", `runtime.${path} ${why}`, { details: { path, room: module } });
    };
    return (later ? async () => refuse() : refuse) as never;
  };
}
