import { fileURLToPath } from "node:url";
import type { ChannelCapabilities, ChannelPlugin } from "../../../src/protocol/index.ts";
import { createTestHost } from "../../../src/plugin-testing/index.ts";
import { startTelegram, type FakeTelegram, type User } from "../../fakes/telegram/index.ts";
import { startLabGateway, type LabGateway } from "./lab-gateway.ts";
import type { ChannelLab, Deed, FaultName, LabFaults, LabSettings, MakeLab, Received, Spot, Where } from "./lab.ts";
import { until } from "./suite/heard.ts";

const PLUGIN = fileURLToPath(new URL("../../../plugins/telegram", import.meta.url));
const WRONG = "7012345678:AAF-wrong-secret-of-a-test-0000000";

/** The chats of the lab. */
interface Ground {
  readonly telegram: FakeTelegram;
  readonly owner: User;
  readonly stranger: User;
  /** Wants to be named. */
  readonly group: number;
  /** A forum that does not, and a topic in it. */
  readonly forum: number;
  readonly topic: number;
}

async function prepare(): Promise<Ground> {
  const telegram = await startTelegram();
  const owner = telegram.me;
  const stranger = telegram.person({ first_name: "Mallory", username: "mallory_outside" });
  for (const person of [owner, stranger]) telegram.direct(person);
  const forum = telegram.group({ title: "Plans", forum: true }).id;
  const topic = telegram.topic(forum, "Travel");
  return { telegram, owner, stranger, group: telegram.group({ title: "Workshop" }).id, forum, topic };
}

function sectionOf({ owner, group, forum }: Ground, botToken: string, { access = "allowlist", channel = {} }: LabSettings): Readonly<Record<string, unknown>> {
  return {
    enabled: true,
    botToken,
    dmPolicy: access,
    allowFrom: [owner.id],
    groupPolicy: "allowlist",
    groupAllowFrom: [owner.id],
    groups: { [String(group)]: { requireMention: true }, [String(forum)]: { requireMention: false } },
    // A reaction of ours to every message would be traffic that no test asks about.
    ackReaction: "",
    ...channel,
  };
}

async function claimsOf(): Promise<ChannelCapabilities> {
  await using host = await createTestHost({ plugins: [PLUGIN] });
  return (host.channel("telegram") as ChannelPlugin).capabilities;
}

/** What a person of the lab does and sees. */
function createPerson({
  telegram,
  owner,
  stranger,
  group,
  forum,
  topic,
}: Ground): Pick<ChannelLab, "say" | "received" | "edit" | "react" | "press" | "join" | "redeliver"> {
  const updates = new Map<string, number>();
  /** Messages that the lab itself put there, in the bot's name. */
  const planted = new Set<string>();
  const whoIs = ({ by = "owner" }: Spot): User => (by === "owner" ? owner : stranger);
  const chatOf = (spot: Spot): number => ({ direct: whoIs(spot).id, group, thread: forum })[spot.where ?? "direct"];
  const threadOf = (where: Where | undefined): number | undefined => (where === "thread" ? topic : undefined);
  const key = (chatId: number, id: number | string): string => `${chatId}/${id}`;
  const placed = ({ where }: Spot): object => (where === "thread" ? { thread: topic } : {});

  function delivered(updateId: number | undefined, what: string): number {
    if (updateId === undefined) throw new Error(`the bot does not subscribe to ${what}`);
    return updateId;
  }

  return {
    say(text, options = {}) {
      const { mention, replyTo, file } = options;
      const words = mention ? `@${telegram.bot.username} ${text}` : text;
      const kind = file?.mime.startsWith("image/") ? ("photo" as const) : ("document" as const);
      const said = telegram.say(words, {
        from: whoIs(options),
        chat: chatOf(options),
        ...placed(options),
        ...(replyTo ? { replyTo: Number(replyTo.id) } : {}),
        ...(file ? { file: { ...file, kind } } : {}),
      });
      updates.set(key(said.chatId, said.messageId), delivered(said.updateId, "messages"));
      return Promise.resolve({ id: String(said.messageId), ...options });
    },
    received(spot = {}) {
      const chat = chatOf(spot);
      const ours = telegram.messages(chat).filter(({ byBot, thread, id }) => byBot && thread === threadOf(spot.where) && !planted.has(key(chat, id)));
      return ours.map(({ id, text, replyTo, media }): Received => {
        const file = media && { name: media.name, data: media.data };
        return { id: String(id), text, replyTo: replyTo === undefined ? undefined : String(replyTo), file };
      });
    },
    redeliver(said) {
      telegram.redeliver(updates.get(key(chatOf(said), said.id))!);
      return Promise.resolve();
    },
    edit(said, text) {
      delivered(telegram.edit({ chatId: chatOf(said), messageId: Number(said.id) }, text).updateId, "edits");
      return Promise.resolve();
    },
    react(emoji, spot = {}) {
      const chatId = chatOf(spot);
      const last = telegram.messages(chatId).findLast(({ byBot }) => byBot) ?? telegram.messages(chatId).at(-1);
      const messageId = last?.id ?? telegram.say("hello", { from: whoIs(spot), chat: chatId }).messageId;
      delivered(telegram.react({ chatId, messageId }, emoji, { from: whoIs(spot) }).updateId, "reactions");
      return Promise.resolve();
    },
    async press(value, spot = {}) {
      const chatId = chatOf(spot);
      const reply_markup = { inline_keyboard: [[{ text: "Pick", callback_data: value }]] };
      const thread = threadOf(spot.where);
      const body = { chat_id: chatId, text: "Pick one:", reply_markup, ...(thread === undefined ? {} : { message_thread_id: thread }) };
      const response = await fetch(`${telegram.apiRoot}/bot${telegram.token}/sendMessage`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const { result } = (await response.json()) as { readonly result: { readonly message_id: number } };
      planted.add(key(chatId, result.message_id));
      delivered(telegram.press({ chatId, messageId: result.message_id }, "Pick", { from: whoIs(spot) }).updateId, "buttons");
    },
    join(spot) {
      telegram.join(chatOf(spot), whoIs(spot));
      return Promise.resolve();
    },
  };
}

function createDeeds({ telegram, owner, stranger, group, forum }: Ground): Readonly<Record<string, Deed>> {
  const whoIs = ({ by }: Required<Spot>): User => (by === "owner" ? owner : stranger);
  const chatRef = (spot: Required<Spot>): { readonly from: User; readonly chat: number } => ({
    from: whoIs(spot),
    chat: { direct: whoIs(spot).id, group, thread: forum }[spot.where],
  });
  const voice = { kind: "voice" as const, mime: "audio/ogg", data: Buffer.from("OggS w-deed") };
  const lastIn = (chatId: number): number => telegram.messages(chatId).at(-1)?.id ?? 1;
  const poll = { id: "7", question: "w-deed", options: [{ text: "w-deed", voter_count: 1 }], total_voter_count: 1, is_closed: false, type: "regular" };
  return {
    "a voice message": { owner: "turn", where: "direct", act: (spot) => telegram.say("", { ...chatRef(spot), file: voice }) },
    "a place": {
      owner: "turn",
      where: "direct",
      act: (spot) => telegram.say("", { ...chatRef(spot), fields: { location: { latitude: 48.1, longitude: 11.5 } } }),
    },
    "a vote": { owner: "nothing", act: (spot) => telegram.raw({ poll_answer: { poll_id: "7", user: whoIs(spot), option_ids: [0] } }) },
    "a poll": { owner: "nothing", where: "group", act: (spot) => telegram.say("", { ...chatRef(spot), fields: { poll } }) },
    "a pin": {
      owner: "nothing",
      where: "group",
      act: (spot) => telegram.say("", { ...chatRef(spot), fields: { pinned_message: { message_id: 1, date: 0, chat: { id: group }, text: "w-deed" } } }),
    },
    "a reaction that is withdrawn": {
      owner: "nothing",
      where: "group",
      act: (spot) => telegram.react({ chatId: group, messageId: lastIn(group) }, undefined, { from: whoIs(spot) }),
    },
    "a member who leaves": {
      owner: "nothing",
      where: "group",
      act: (spot) => telegram.say("", { ...chatRef(spot), fields: { left_chat_member: whoIs(spot) } }),
    },
  };
}

/** What the Bot API can suffer. Updates of a chat always come in the order of their numbers. */
export const TELEGRAM_FAULTS: readonly FaultName[] = [
  "lostAnswer",
  "serverError",
  "tooMany",
  "noAnswer",
  "garbageAnswer",
  "slow",
  "garbageEvents",
  "revoke",
  "halfOpen",
  "killed",
];

function createFaults({ telegram }: Ground): LabFaults {
  return {
    lostAnswer: () => telegram.fault("sendMessage", { drop: "after" }),
    serverError: (hadEffect) => telegram.fault("sendMessage", { status: 502, ...(hadEffect ? { applied: true } : {}) }),
    tooMany: (waitMs, times) => telegram.fault("sendMessage", { retryAfter: waitMs / 1000, times }),
    noAnswer: () => telegram.fault("sendMessage", { silent: "before" }),
    garbageAnswer: () => telegram.fault("sendMessage", { status: 200, body: "<html>It works!</html>", applied: true }),
    slow: (ms) => (ms === undefined ? telegram.clearFaults() : telegram.fault("*", { delayMs: ms, times: Number.POSITIVE_INFINITY })),
    garbageEvents() {
      const chat = { id: telegram.me.id, type: "private" };
      const strange = [
        { message: 5 },
        { message: { message_id: "x", chat, text: "w-bad" } },
        { message: { message_id: 1, text: "w-bad" } },
        { new_kind: {} },
        {},
      ];
      for (const update of strange) telegram.raw(update);
      return Promise.resolve();
    },
    revoke() {
      telegram.changeToken(`${telegram.token.split(":")[0]}:AAF-another-token-of-the-lab-00000`);
      telegram.dropConnections();
      return Promise.resolve();
    },
    halfOpen() {
      telegram.fault("getUpdates", { silent: "before" });
      telegram.dropConnections();
      return Promise.resolve();
    },
  };
}

function createLab(ground: Ground, gateway: LabGateway, settings: LabSettings, capabilities: ChannelCapabilities): ChannelLab {
  const { telegram, stranger } = ground;
  return {
    ...createPerson(ground),
    channel: "telegram",
    capabilities,
    limits: { text: 4096, measure: (text) => text.length },
    gateway,
    strangerMarks: [String(stranger.id), "Mallory", "mallory_outside"],
    secrets: [telegram.token, WRONG, telegram.token.split(":")[1]!],
    isUp: () => Promise.resolve(telegram.polling),
    server: telegram.server,
    traffic: () => telegram.calls().length,
    connections: () => (telegram.polling ? 1 : 0),
    conflicts: () => telegram.calls().filter(({ status }) => status === 409).length,
    dropConnection() {
      telegram.dropConnections();
      return Promise.resolve();
    },
    async away(during) {
      await telegram.down();
      await during();
      await telegram.up();
    },
    mendCredentials() {
      gateway.configure({ channels: { telegram: sectionOf(ground, telegram.token, settings) } });
      return Promise.resolve();
    },
    faults: createFaults(ground),
    deeds: createDeeds(ground),
    loseReceipt: () => telegram.fault("sendMessage", { drop: "after" }),
    floodLimit: (pauseMs) => telegram.limitRate(pauseMs === undefined ? undefined : { messages: 1, perMs: pauseMs }),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await telegram[Symbol.asyncDispose]();
    },
  };
}

/** Telegram by long polling, with gateways of the caller's where some are given. */
export function telegramLabs(startGateway: typeof startLabGateway = startLabGateway): MakeLab {
  let claims: Promise<ChannelCapabilities> | undefined;
  return async (settings) => openLab(settings, await (claims ??= claimsOf()), startGateway);
}

async function openLab(settings: LabSettings, capabilities: ChannelCapabilities, startGateway: typeof startLabGateway): Promise<ChannelLab> {
  const ground = await prepare();
  const { telegram } = ground;
  const isWrong = settings.credentials === "wrong";
  const gateway = await startGateway({
    sections: { channels: { telegram: sectionOf(ground, isWrong ? WRONG : telegram.token, settings) } },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
  const lab = createLab(ground, gateway, settings, capabilities);
  if (isWrong) return lab;
  const why = (): string =>
    `the bot does not poll; it asked for ${
      telegram
        .calls()
        .map(({ method, status }) => `${method} ${status}`)
        .join(", ") || "nothing"
    }`;
  await until(
    () => telegram.polling,
    () => `${why()}\n${gateway.output()}`,
  ).catch(async (error: unknown) => {
    await lab[Symbol.asyncDispose]();
    throw error;
  });
  return lab;
}
