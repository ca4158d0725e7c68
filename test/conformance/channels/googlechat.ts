/** Google Chat: the platform posts to the gateway, and is written to over its API. */
import { startGoogleChat, type FakeGoogleChat, type Message, type Space, type User } from "../../fakes/googlechat/index.ts";
import { labsOf, type LabGround } from "./http-lab.ts";
import type { LabGateway, startLabGateway } from "./lab-gateway.ts";
import type { ChannelLab, Deed, FaultName, LabFaults, LabSettings, Lacks, MakeLab, Received, Spot } from "./lab.ts";

const PROJECT = "123456789012";

/** With a service account, the only credential that the channel takes. */
export const GOOGLECHAT_LACKS: Lacks = {
  reaction: "Google permits reactions only with the authorization of a user, and reports none to apps",
  mediaOut: "Google permits files of apps only with the authorization of a user",
  overhears: "Google posts only messages that name the app",
  edit: "Google Chat reports no edits to apps",
  member: "Google Chat reports only that the app itself was added or removed",
};

/** Credentials that are withdrawn do not end the account, since events arrive without them: `test/channels/googlechat.test.ts` has what they do. */
export const GOOGLECHAT_FAULTS: readonly FaultName[] = [
  "lostAnswer",
  "serverError",
  "tooMany",
  "noAnswer",
  "garbageAnswer",
  "slow",
  "garbageEvents",
  "reorder",
  "halfOpen",
  "killed",
];

/** The chats of the lab. */
interface Ground extends LabGround {
  readonly chat: FakeGoogleChat;
  readonly owner: User;
  readonly stranger: User;
  /** Wants to be named. */
  readonly group: Space;
  /** Does not, and a thread in it. */
  readonly plans: Space;
  readonly root: Message;
  readonly wrongKey: string;
}

async function prepare(): Promise<Ground> {
  const chat = await startGoogleChat();
  const owner = chat.person("Anna", "anna@example.com");
  const stranger = chat.person("Mallory", "mallory_outside@example.com");
  for (const person of [owner, stranger]) chat.direct(person);
  const group = chat.space("workshop", [owner, stranger]);
  const plans = chat.space("plans", [owner, stranger]);
  const root = chat.world.create(owner, plans.name, { text: "Travel" });
  return { chat, server: chat.server, owner, stranger, group, plans, root, wrongKey: chat.google.wrongKey() };
}

function sectionOf({ chat, owner, group, plans, wrongKey }: Ground, settings: LabSettings): Readonly<Record<string, unknown>> {
  const { access = "allowlist", channel = {}, credentials } = settings;
  return {
    enabled: true,
    serviceAccount: credentials === "wrong" ? wrongKey : chat.google.serviceAccount,
    audienceType: "project-number",
    audience: PROJECT,
    dm: { policy: access, allowFrom: [owner.name] },
    groupPolicy: "allowlist",
    groups: { [group.name]: { requireMention: true, users: [owner.name] }, [plans.name]: { requireMention: false, users: [owner.name] } },
    // Each message of the bot is one request, as the tests about requests that go wrong expect.
    typingIndicator: "none",
    ...channel,
  };
}

/** What a person of the lab does and sees. */
function createPerson({ chat, owner, stranger, group, plans, root }: Ground, gateway: LabGateway) {
  const said = new Map<string, Message>();
  /** Messages that the lab itself asked for. */
  const ours = new Set<string>();
  let presses = 0;
  const whoIs = ({ by = "owner" }: Spot): User => (by === "owner" ? owner : stranger);
  const spaceOf = (spot: Spot): Space => ({ direct: chat.direct(whoIs(spot)), group, thread: plans })[spot.where ?? "direct"];
  const rootOf = (thread: string): string | undefined => chat.world.messages.find((message) => message.thread === thread)?.name;
  function write(text: string, options: Parameters<ChannelLab["say"]>[1] = {}): Message {
    // In spaces only messages that name the app are posted, also where the configuration does not ask for that.
    const { replyTo, file, where, mention = where === "thread" } = options;
    const message = chat.say(whoIs(options), spaceOf(options), text, {
      mention,
      quoted: replyTo?.id,
      file,
      thread: where === "thread" ? root.thread : undefined,
    });
    said.set(message.name, message);
    return message;
  }
  const person: Pick<ChannelLab, "say" | "received" | "press" | "redeliver"> = {
    say: (text, options = {}) => Promise.resolve({ id: write(text, options).name, ...options }),
    received(spot = {}) {
      const isHere = ({ thread }: Message): boolean => spot.where !== "thread" || thread === root.thread;
      const mine = chat.messages(spaceOf(spot)).filter((message) => message.sender === chat.bot && isHere(message) && !ours.has(message.name));
      return mine.map(({ name, text, thread, threadReply, attachment: [file] }): Received => ({
        id: name,
        text,
        replyTo: threadReply ? rootOf(thread) : undefined,
        file: file && chat.file(file.resourceName),
      }));
    },
    redeliver: ({ id }) => chat.redeliver(said.get(id)!),
    async press(value, spot = {}) {
      const before = new Set(chat.messages(spaceOf(spot)).map(({ name }) => name));
      const channelData = { googlechat: { buttons: [[{ text: "Pick", callback_data: value }]] } };
      const params = { to: spaceOf(spot).name, message: "Pick one:", channelData };
      const sent = await gateway.operator.request("message.action", {
        action: "send",
        channel: "googlechat",
        params,
        idempotencyKey: `press-${(presses += 1)}`,
      });
      const message = chat.messages(spaceOf(spot)).find(({ name }) => !before.has(name));
      if (!message) throw new Error(`no message with a button came: ${JSON.stringify(sent)}`);
      ours.add(message.name);
      await chat.press(whoIs(spot), message, "Pick");
    },
  };
  return { person, write };
}

function createDeeds({ chat, owner, stranger, group }: Ground): Readonly<Record<string, Deed>> {
  const whoIs = ({ by }: Required<Spot>): User => (by === "owner" ? owner : stranger);
  const voice = { name: "voice.ogg", mime: "audio/ogg", data: Buffer.from("OggS w-deed") };
  return {
    "a voice message": { owner: "turn", where: "direct", act: (spot) => chat.say(whoIs(spot), chat.direct(whoIs(spot)), "", { file: voice }) },
    "that the app is taken out and added": {
      owner: "nothing",
      where: "group",
      async act(spot) {
        await chat.removeApp(whoIs(spot), group);
        await chat.addApp(whoIs(spot), group);
      },
    },
  };
}

function createFaults({ chat, server, owner }: Ground): LabFaults {
  const on = /^POST \/v1\/spaces\/[^/]+\/messages$/;
  return {
    lostAnswer: () => server.faults.add({ on, reset: true, applied: true }),
    serverError: (hadEffect) => server.faults.add({ on, status: 502, applied: hadEffect }),
    tooMany: (waitMs, times) => server.faults.add({ on, status: 429, headers: { "retry-after": String(waitMs / 1000) }, times }),
    noAnswer: () => server.faults.add({ on, silent: true }),
    garbageAnswer: () => server.faults.add({ on, garbage: true, applied: true }),
    halfOpen() {
      server.freeze();
      return Promise.resolve();
    },
    slow: (ms) => (ms === undefined ? server.faults.clear() : server.faults.add({ delayMs: ms, times: Number.POSITIVE_INFINITY })),
    async garbageEvents() {
      const space = { name: chat.direct(owner).name, spaceType: "DIRECT_MESSAGE" };
      const user = { name: owner.name, displayName: "Anna", type: "HUMAN" };
      const bodies = [
        "",
        "{",
        "5",
        "[]",
        '{"type":"MESSAGE"}',
        JSON.stringify({ type: "NEW_KIND", user, space, message: { text: "w-bad" } }),
        JSON.stringify({ type: "MESSAGE", user, space, message: { name: 5, text: "w-bad" } }),
        JSON.stringify({ type: "MESSAGE", user, space, message: { name: "spaces/OTHER/messages/a.b", text: "w-bad" } }),
        JSON.stringify({ type: "MESSAGE", user: "users/1", space: "spaces/x", message: "w-bad" }),
        JSON.stringify({ type: "CARD_CLICKED", user, space, common: { parameters: { openclaw: 5 } } }),
        JSON.stringify({ chat: { user, messagePayload: [] }, commonEventObject: 5 }),
      ];
      for (const body of bodies) await chat.post(body);
    },
    reorder: (texts) => chat.reorder(texts.map((text) => chat.world.create(owner, chat.direct(owner).name, { text }))),
  };
}

/** Google Chat, with gateways of the caller's where some are given. */
export function googlechatLabs(startGateway?: typeof startLabGateway): MakeLab {
  return labsOf<Ground>({
    channel: "googlechat",
    ...(startGateway ? { startGateway } : {}),
    prepare,
    sectionOf,
    env: ({ chat }) => ({ OPENCLAW_TEST_GOOGLECHAT_API_ROOT: chat.url }),
    isUp: ({ chat }) => chat.google.tokens.size > 0,
    lab(ground, gateway) {
      const { chat, server, stranger, wrongKey } = ground;
      const { google } = chat;
      google.setAudience("project-number", PROJECT);
      chat.postTo(() => (gateway.isRunning() ? `${gateway.url.replace(/^ws/, "http")}/googlechat` : undefined));
      const keyLines = (key: string): string[] => key.split("\\n").filter((line) => line.length > 40);
      return {
        ...createPerson(ground, gateway).person,
        limits: { text: 4096, measure: (text) => text.length },
        showsOnce: true,
        strangerMarks: [stranger.name, "Mallory", "mallory_outside"],
        secrets: [...keyLines(google.serviceAccount), ...keyLines(wrongKey)],
        connections: () => server.connections,
        conflicts: () => 0,
        loseReceipt: () => server.faults.add({ on: /^POST \/v1\/spaces\/[^/]+\/messages$/, reset: true, applied: true }),
        floodLimit: (pauseMs) => chat.limitRate(pauseMs),
        faults: createFaults(ground),
        deeds: createDeeds(ground),
        async [Symbol.asyncDispose]() {
          await gateway[Symbol.asyncDispose]();
          await chat[Symbol.asyncDispose]();
        },
      };
    },
  });
}
