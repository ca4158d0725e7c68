import { startMattermost, type Channel, type FakeMattermost, type Post, type User } from "../../fakes/mattermost/index.ts";
import { labsOf, type LabGround } from "./http-lab.ts";
import type { ChannelLab, Deed, FaultName, LabFaults, LabSettings, MakeLab, Received, Spot } from "./lab.ts";
import type { LabGateway, startLabGateway } from "./lab-gateway.ts";

const WRONG = "wrongtokenofatest000000000";
/** Of the gateway, which has another port in each life: a proxy stands before it. */
const PUBLIC = "https://claw.example.com";
const EMOJI: Readonly<Record<string, string>> = { "👍": "+1", "👎": "-1" };

/** The chats of the lab. */
interface Ground extends LabGround {
  readonly chat: FakeMattermost;
  readonly owner: User;
  readonly stranger: User;
  /** Wants to be named. */
  readonly group: Channel;
  /** Does not, and a thread in it. */
  readonly forum: Channel;
  readonly root: Post;
}

async function prepare(): Promise<Ground> {
  const chat = await startMattermost();
  const owner = chat.person({ username: "anna", first_name: "Anna" });
  const stranger = chat.person({ username: "mallory_outside", first_name: "Mallory" });
  const group = chat.channel({ name: "workshop", members: [owner, stranger] });
  const forum = chat.channel({ name: "plans", type: "P", members: [owner, stranger] });
  for (const person of [owner, stranger]) chat.direct(person);
  const root = chat.say(owner, forum, "Travel");
  return { chat, server: chat.server, owner, stranger, group, forum, root };
}

function sectionOf({ chat, owner, group, forum }: Ground, { access = "allowlist", channel = {}, credentials }: LabSettings): Readonly<Record<string, unknown>> {
  return {
    enabled: true,
    baseUrl: chat.url,
    botToken: credentials === "wrong" ? WRONG : chat.token,
    dmPolicy: access,
    allowFrom: [owner.id],
    groupPolicy: "allowlist",
    groupAllowFrom: [owner.id],
    groups: { [group.id]: { requireMention: true }, [forum.id]: { requireMention: false } },
    // A reaction of ours to every message would be traffic that no test asks about.
    ackReaction: "",
    interactions: { callbackBaseUrl: PUBLIC },
    ...channel,
  };
}

/** What a person of the lab does and sees. */
function createPerson(
  { chat, owner, stranger, group, forum, root }: Ground,
  gateway: LabGateway,
): Pick<ChannelLab, "say" | "received" | "edit" | "react" | "press" | "join" | "redeliver"> {
  /** Posts that the lab itself asked for. */
  const ours = new Set<string>();
  let presses = 0;
  const whoIs = ({ by = "owner" }: Spot): User => (by === "owner" ? owner : stranger);
  const channelOf = (spot: Spot): Channel => ({ direct: chat.direct(whoIs(spot)), group, thread: forum })[spot.where ?? "direct"];
  const rootOf = ({ where }: Spot): string => (where === "thread" ? root.id : "");
  const find = (spot: Spot, id: string): Post => chat.posts(channelOf(spot)).find((post) => post.id === id)!;
  return {
    say(text, options = {}) {
      const { mention, replyTo, file } = options;
      const words = mention ? `@${chat.bot.username} ${text}` : text;
      const above = replyTo ? find(options, replyTo.id) : undefined;
      const rootId = above ? above.root_id || above.id : rootOf(options);
      const { id } = chat.say(whoIs(options), channelOf(options), words, { rootId, ...(file ? { files: [file] } : {}) });
      return Promise.resolve({ id, ...options });
    },
    received(spot = {}) {
      const isHere = (post: Post): boolean => spot.where !== "thread" || post.root_id === root.id;
      const mine = chat.posts(channelOf(spot)).filter((post) => post.user_id === chat.bot.id && isHere(post) && !ours.has(post.id));
      return mine.map(({ id, message, root_id: replyTo, file_ids: [fileId] }): Received => ({
        id,
        text: message,
        replyTo: replyTo || undefined,
        file: fileId === undefined ? undefined : chat.file(fileId),
      }));
    },
    redeliver({ id }) {
      chat.redeliver(id);
      return Promise.resolve();
    },
    edit(said, text) {
      chat.edit(whoIs(said), find(said, said.id), text);
      return Promise.resolve();
    },
    react(emoji, spot = {}) {
      const posts = chat.posts(channelOf(spot));
      const last = posts.findLast(({ user_id: by }) => by === chat.bot.id) ?? posts.at(-1) ?? chat.say(whoIs(spot), channelOf(spot), "hello");
      chat.react(whoIs(spot), last, EMOJI[emoji] ?? emoji);
      return Promise.resolve();
    },
    async press(value, spot = {}) {
      const before = new Set(chat.posts(channelOf(spot)).map(({ id }) => id));
      const to = spot.where === undefined || spot.where === "direct" ? `user:${whoIs(spot).id}` : `channel:${channelOf(spot).id}`;
      const channelData = { mattermost: { buttons: [[{ text: "Pick", callback_data: value }]] } };
      const action = { action: "send", channel: "mattermost", params: { to, message: "Pick one:", channelData }, idempotencyKey: `press-${(presses += 1)}` };
      const sent = await gateway.operator.request("message.action", action);
      const post = chat.posts(channelOf(spot)).find(({ id }) => !before.has(id));
      if (!post) throw new Error(`no message with a button came: ${JSON.stringify(sent)}`);
      ours.add(post.id);
      await chat.press(whoIs(spot), post, "Pick", { [PUBLIC]: gateway.url.replace(/^ws/, "http") });
    },
    join(spot) {
      chat.join(whoIs(spot), channelOf(spot));
      return Promise.resolve();
    },
  };
}

const VOICE = { name: "voice.ogg", mime: "audio/ogg", data: Buffer.from("OggS w-deed") };

function createDeeds({ chat, owner, stranger, group, forum }: Ground): Readonly<Record<string, Deed>> {
  const whoIs = ({ by }: Required<Spot>): User => (by === "owner" ? owner : stranger);
  const channelOf = (spot: Required<Spot>): Channel => ({ direct: chat.direct(whoIs(spot)), group, thread: forum })[spot.where];
  const write = (spot: Required<Spot>, type: string): Post => chat.say(whoIs(spot), channelOf(spot), "w-deed", { type });
  return {
    "a voice message": { owner: "turn", where: "direct", act: (spot) => chat.say(whoIs(spot), channelOf(spot), "", { files: [VOICE] }) },
    "a notice of the server": { owner: "nothing", act: (spot) => write(spot, "system_header_change") },
    "a reaction that is withdrawn": { owner: "nothing", act: (spot) => chat.react(whoIs(spot), write(spot, "system_purpose_change"), "-1", false) },
    "a deletion": { owner: "nothing", act: (spot) => chat.remove(whoIs(spot), write(spot, "system_displayname_change")) },
    "a member who leaves": {
      owner: "nothing",
      where: "group",
      act(spot) {
        chat.leave(whoIs(spot), channelOf(spot));
        chat.join(whoIs(spot), channelOf(spot));
      },
    },
  };
}

/** What the API and the socket can suffer. */
export const MATTERMOST_FAULTS: readonly FaultName[] = [
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

const SEND = /^POST \/api\/v4\/posts$/;

function createFaults({ chat, server, owner }: Ground): LabFaults {
  const { faults } = server;
  return {
    lostAnswer: () => faults.add({ on: SEND, reset: true, applied: true }),
    serverError: (hadEffect) => faults.add({ on: SEND, status: 502, applied: hadEffect }),
    tooMany: (waitMs, times) => faults.add({ on: SEND, status: 429, headers: { "retry-after": String(waitMs / 1000) }, body: "limit exceeded", times }),
    noAnswer: () => faults.add({ on: SEND, silent: true }),
    garbageAnswer: () => faults.add({ on: SEND, garbage: true, applied: true }),
    slow: (ms) => (ms === undefined ? faults.clear() : faults.add({ delayMs: ms, times: Number.POSITIVE_INFINITY })),
    garbageEvents() {
      const post = { id: "x", user_id: owner.id, channel_id: chat.direct(owner).id, message: "w-bad" };
      const posted = (data: unknown): object => ({ event: "posted", data, broadcast: {} });
      const frames = [
        "{broken",
        "5",
        "null",
        {},
        { event: 5 },
        { event: "new_kind", data: { message: "w-bad" } },
        posted(5),
        posted({ post: "{broken" }),
        posted({ post }),
        posted({ post: JSON.stringify({ ...post, id: 5 }) }),
        posted({ post: JSON.stringify({ ...post, channel_id: null, message: 7 }) }),
      ];
      for (const frame of frames) for (const socket of server.sockets) socket.send(frame);
      return Promise.resolve();
    },
    reorder(texts) {
      chat.lastFirst(() => {
        for (const text of texts) chat.say(owner, chat.direct(owner), text);
      });
      return Promise.resolve();
    },
    revoke() {
      chat.revoke(chat.token);
      server.drop();
      return Promise.resolve();
    },
    halfOpen() {
      for (const socket of server.sockets) socket.freeze();
      return Promise.resolve();
    },
  };
}

/** Mattermost, with gateways of the caller's where some are given. */
export function mattermostLabs(startGateway?: typeof startLabGateway): MakeLab {
  return labsOf<Ground>({
    channel: "mattermost",
    ...(startGateway ? { startGateway } : {}),
    prepare,
    sectionOf,
    isUp: ({ chat }) => chat.sockets() > 0,
    lab: (ground, gateway) => ({
      ...createPerson(ground, gateway),
      limits: { text: 16_383, measure: (text) => Array.from(text).length },
      showsOnce: true,
      strangerMarks: [ground.stranger.id, "Mallory", "mallory_outside"],
      secrets: [ground.chat.token, WRONG],
      connections: () => ground.chat.sockets(),
      conflicts: () => ground.chat.conflicts,
      loseReceipt: () => ground.server.faults.add({ on: SEND, reset: true, applied: true }),
      faults: createFaults(ground),
      deeds: createDeeds(ground),
      mendCredentials() {
        ground.chat.grant(ground.chat.token);
        gateway.configure({ channels: { mattermost: { ...sectionOf(ground, {}), name: "mended" } } });
        return Promise.resolve();
      },
      floodLimit: (pauseMs) => ground.chat.limitRate(pauseMs === undefined ? undefined : { posts: 1, perMs: pauseMs }),
    }),
  });
}
