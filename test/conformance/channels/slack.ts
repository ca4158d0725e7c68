import { fileURLToPath } from "node:url";
import type { ChannelCapabilities, ChannelPlugin } from "../../../src/protocol/index.ts";
import { createTestHost } from "../../../src/plugin-testing/index.ts";
import { startSlack, type FakeSlack, type Message, type User } from "../../fakes/slack/index.ts";
import { startLabGateway, type LabGateway } from "./lab-gateway.ts";
import type { ChannelLab, Deed, FaultName, LabFaults, LabSettings, MakeLab, Received, Said, Spot } from "./lab.ts";
import { until } from "./suite/heard.ts";

const PLUGIN = fileURLToPath(new URL("../../../plugins/slack", import.meta.url));
const WRONG = "xoxb-1-wrong-secret-of-a-test-0000000";

/** The chats of the lab. */
interface Ground {
  readonly slack: FakeSlack;
  readonly owner: User;
  readonly stranger: User;
  /** Wants to be named. */
  readonly group: string;
  /** A channel that does not, and a thread in it. */
  readonly plans: string;
  readonly thread: string;
}

async function prepare(): Promise<Ground> {
  const slack = await startSlack();
  const { world } = slack;
  const owner = world.person("ada", "Ada");
  const stranger = world.person("mallory_outside", "Mallory");
  const members = [owner.id, stranger.id, world.bot.id];
  const group = world.conversation("channel", "workshop", members).id;
  const plans = world.conversation("channel", "plans", members).id;
  // Nobody is connected yet: only the history knows it.
  const thread = world.post({ channel: plans, text: "Travel", user: owner.id }).ts;
  return { slack, owner, stranger, group, plans, thread };
}

function sectionOf(
  { slack, owner, group, plans }: Ground,
  botToken: string,
  { access = "allowlist", channel = {} }: LabSettings,
): Readonly<Record<string, unknown>> {
  return {
    enabled: true,
    botToken,
    appToken: slack.appToken,
    dmPolicy: access,
    allowFrom: [owner.id],
    groupPolicy: "allowlist",
    channels: { [group]: { requireMention: true, users: [owner.id] }, [plans]: { requireMention: false, users: [owner.id] } },
    // A reaction of ours to every message would be traffic that no test asks about.
    ackReaction: "",
    ...channel,
  };
}

async function claimsOf(): Promise<ChannelCapabilities> {
  await using host = await createTestHost({ plugins: [PLUGIN] });
  return (host.channel("slack") as ChannelPlugin).capabilities;
}

type Person = Pick<ChannelLab, "say" | "received" | "edit" | "react" | "press" | "join" | "redeliver">;

/** What a person of the lab does and sees. */
function createPerson({ slack, owner, stranger, group, plans, thread }: Ground): Person {
  const { world, people, delivery } = slack;
  const said = new Map<string, ReturnType<typeof people.say>>();
  /** Messages that the lab itself put there, in the bot's name. */
  const planted = new Set<string>();
  const whoIs = ({ by = "owner" }: Spot): User => (by === "owner" ? owner : stranger);
  const channelOf = (spot: Spot): string => ({ direct: world.direct(whoIs(spot).id).id, group, thread: plans })[spot.where ?? "direct"];
  const isThere = ({ where }: Spot, message: Message): boolean =>
    where === "thread" ? message.threadTs === thread : where !== "group" || message.threadTs === undefined;

  return {
    say(text, options = {}) {
      const { mention, replyTo, file } = options;
      const words = mention ? `<@${world.bot.id}> ${text}` : text;
      const channel = channelOf(options);
      const done = people.say(words, { by: whoIs(options), channel, thread: options.where === "thread" ? thread : replyTo?.id, file });
      said.set(done.ts, done);
      return Promise.resolve({ id: done.ts, ...options });
    },
    received(spot = {}) {
      // What one person alone is shown, such as why a command is refused, is no message of the chat.
      const isOurs = ({ botId, ts, ephemeralFor }: Message): boolean => botId === world.bot.botId && ephemeralFor === undefined && !planted.has(ts);
      const ours = world.messages(channelOf(spot)).filter((message) => isOurs(message) && isThere(spot, message));
      return ours.map(({ ts, text, threadTs, files: [file] }): Received => ({
        id: ts,
        text,
        replyTo: threadTs,
        file: file && { name: file.name, data: file.data },
      }));
    },
    redeliver(again: Said) {
      for (const event of said.get(again.id)!.events) delivery.again(event);
      return Promise.resolve();
    },
    edit(before, text) {
      people.edit(channelOf(before), before.id, text);
      return Promise.resolve();
    },
    react(_emoji, spot = {}) {
      const channel = channelOf(spot);
      const messages = world.messages(channel);
      const last =
        messages.findLast(({ botId }) => botId === world.bot.botId) ?? messages.at(-1) ?? world.post({ channel, text: "hello", user: whoIs(spot).id });
      people.react(channel, last.ts, "thumbsup", whoIs(spot));
      return Promise.resolve();
    },
    press(value, spot = {}) {
      const { bot } = world;
      const blocks = [{ type: "actions", elements: [{ type: "button", action_id: "openclaw:0", text: { type: "plain_text", text: "Pick" }, value }] }];
      const channel = channelOf(spot);
      const threadTs = spot.where === "thread" ? thread : undefined;
      const { ts } = world.post({ channel, text: "Pick one:", blocks, user: bot.id, botId: bot.botId, threadTs });
      planted.add(ts);
      people.press(channel, ts, whoIs(spot), value);
      return Promise.resolve();
    },
    join(spot) {
      people.join(channelOf(spot), whoIs(spot));
      return Promise.resolve();
    },
  };
}

const VOICE = { name: "voice.m4a", mime: "audio/mp4", data: Buffer.from("w-deed") };

function createDeeds({ slack, owner, stranger, group, plans }: Ground): Readonly<Record<string, Deed>> {
  const { world, people } = slack;
  const whoIs = ({ by }: Required<Spot>): User => (by === "owner" ? owner : stranger);
  const channelOf = (spot: Required<Spot>): string => ({ direct: world.direct(whoIs(spot).id).id, group, thread: plans })[spot.where];
  const lastIn = (spot: Required<Spot>): string =>
    (world.messages(channelOf(spot)).at(-1) ?? world.post({ channel: channelOf(spot), text: "hello", user: whoIs(spot).id })).ts;
  return {
    "a slash command": { owner: "nothing", act: (spot) => people.slash("/openclaw", "/status", whoIs(spot), channelOf(spot)) },
    "a voice message": { owner: "turn", where: "direct", act: (spot) => people.say("", { by: whoIs(spot), channel: channelOf(spot), file: VOICE }) },
    "a form": { owner: "nothing", act: (spot) => people.submit(whoIs(spot), { block: { input: { type: "plain_text_input", value: "w-deed" } } }) },
    "a pin": { owner: "nothing", act: (spot) => people.pin(channelOf(spot), lastIn(spot), whoIs(spot)) },
    "a reaction that is withdrawn": { owner: "nothing", act: (spot) => people.react(channelOf(spot), lastIn(spot), "eyes", whoIs(spot), "removed") },
    "a deletion": {
      owner: "nothing",
      act(spot) {
        const channel = channelOf(spot);
        people.remove(channel, world.post({ channel, text: "w-deed", user: whoIs(spot).id }).ts);
      },
    },
    "a member who leaves": {
      owner: "nothing",
      where: "group",
      act(spot) {
        people.leave(channelOf(spot), whoIs(spot));
        people.join(channelOf(spot), whoIs(spot));
      },
    },
  };
}

/** What the Web API and Socket Mode can suffer. */
export const SLACK_FAULTS: readonly FaultName[] = [
  "lostAnswer",
  "serverError",
  "tooMany",
  "noAnswer",
  "garbageAnswer",
  "slow",
  "garbageEvents",
  "reorder",
  "revoke",
  "halfOpen",
  "killed",
];

const SEND = "chat.postMessage";

function createFaults({ slack, owner }: Ground): LabFaults {
  const { server, delivery, people, world } = slack;
  const { faults } = server;
  return {
    lostAnswer: () => faults.add({ on: SEND, reset: true, applied: true }),
    serverError: (hadEffect) => faults.add({ on: SEND, status: 503, applied: hadEffect }),
    tooMany: (waitMs, times) =>
      faults.add({ on: SEND, status: 429, headers: { "retry-after": String(waitMs / 1000) }, body: { ok: false, error: "ratelimited" }, times }),
    noAnswer: () => faults.add({ on: SEND, silent: true }),
    garbageAnswer: () => faults.add({ on: SEND, garbage: true, applied: true }),
    slow: (ms) => (ms === undefined ? faults.clear() : faults.add({ delayMs: ms, times: Number.POSITIVE_INFINITY })),
    garbageEvents() {
      const message = { type: "message", user: owner.id, channel: world.direct(owner.id).id, text: "w-bad" };
      const event = (inner: unknown): object => ({ envelope_id: "garbage", type: "events_api", payload: { type: "event_callback", event: inner } });
      const frames = [
        "{broken",
        "5",
        "null",
        {},
        { type: 5 },
        { type: "new_kind", envelope_id: "x", payload: { text: "w-bad" } },
        { type: "events_api", payload: { event: message } },
        { type: "events_api", envelope_id: 5, payload: "w-bad" },
        event(5),
        event({ ...message, channel: 7, ts: "1.0" }),
        event({ ...message, ts: 5 }),
        { type: "slash_commands", envelope_id: "x", payload: { command: 5, text: "w-bad" } },
        { type: "interactive", envelope_id: "x", payload: { type: "block_actions", actions: "w-bad" } },
      ];
      for (const frame of frames) for (const socket of server.sockets) socket.send(frame);
      return Promise.resolve();
    },
    reorder(texts) {
      delivery.lastFirst(() => {
        for (const text of texts) people.say(text, { by: owner, channel: world.direct(owner.id).id });
      });
      return Promise.resolve();
    },
    revoke() {
      slack.refuseTokens("token_revoked");
      for (const socket of server.sockets) socket.reset();
      return Promise.resolve();
    },
    halfOpen() {
      delivery.freeze();
      return Promise.resolve();
    },
  };
}

function createLab(ground: Ground, gateway: LabGateway, settings: LabSettings, capabilities: ChannelCapabilities): ChannelLab {
  const { slack, stranger } = ground;
  return {
    ...createPerson(ground),
    channel: "slack",
    capabilities,
    limits: { text: 4000, measure: (text) => text.length },
    gateway,
    strangerMarks: [stranger.id, "Mallory", "mallory_outside"],
    secrets: [slack.botToken, slack.appToken, WRONG],
    isUp: () => Promise.resolve(slack.delivery.open > 0),
    server: slack.server,
    traffic: () => slack.server.asked.length,
    connections: () => slack.delivery.open,
    conflicts: () => Math.max(0, slack.delivery.open - 1),
    dropConnection() {
      for (const socket of slack.server.sockets) socket.reset();
      return Promise.resolve();
    },
    async away(during) {
      await slack.server.close();
      await during();
      await slack.server.open();
    },
    mendCredentials() {
      slack.refuseTokens(undefined);
      gateway.configure({ channels: { slack: { ...sectionOf(ground, slack.botToken, settings), name: "mended" } } });
      return Promise.resolve();
    },
    faults: createFaults(ground),
    deeds: createDeeds(ground),
    loseReceipt: () => slack.server.faults.add({ on: SEND, reset: true, applied: true }),
    floodLimit: (pauseMs) => slack.limitRate(pauseMs === undefined ? undefined : { messages: 1, perMs: pauseMs }),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await slack[Symbol.asyncDispose]();
    },
  };
}

/** Slack over Socket Mode, with gateways of the caller's where some are given. */
export function slackLabs(startGateway: typeof startLabGateway = startLabGateway): MakeLab {
  let claims: Promise<ChannelCapabilities> | undefined;
  return async (settings) => openLab(settings, await (claims ??= claimsOf()), startGateway);
}

async function openLab(settings: LabSettings, capabilities: ChannelCapabilities, startGateway: typeof startLabGateway): Promise<ChannelLab> {
  const ground = await prepare();
  const { slack } = ground;
  const isWrong = settings.credentials === "wrong";
  const gateway = await startGateway({
    sections: { channels: { slack: sectionOf(ground, isWrong ? WRONG : slack.botToken, settings) } },
    env: { OPENCLAW_TEST_SLACK_API_ROOT: slack.apiRoot },
  });
  const lab = createLab(ground, gateway, settings, capabilities);
  if (isWrong) return lab;
  await until(
    () => slack.delivery.open > 0,
    () => `the app is not connected; it asked for ${slack.calls().join(", ") || "nothing"}\n${gateway.output()}`,
  ).catch(async (error: unknown) => {
    await lab[Symbol.asyncDispose]();
    throw error;
  });
  return lab;
}
