/** A Mattermost server over real sockets, written from its public documentation. */
import { setTimeout as delay } from "node:timers/promises";
import { type Answer, type Asked, type FakeServer, startFakeServer } from "../../../src/plugin-testing/index.ts";
import { type Channel, forClients, newId, type Post, type PostAction, type User } from "./objects.ts";
import { createRoutes, type SlashCommand } from "./routes.ts";
import { createSockets } from "./sockets.ts";
import { createWorld } from "./world.ts";

export interface PersonFacts {
  readonly username: string;
  readonly first_name?: string;
  readonly isBot?: boolean;
}

export interface SayMore {
  readonly rootId?: string;
  readonly files?: readonly { readonly name: string; readonly mime: string; readonly data: Buffer }[];
  readonly props?: Record<string, unknown>;
  readonly type?: string;
}

export interface FakeMattermost extends AsyncDisposable {
  readonly url: string;
  readonly server: FakeServer;
  readonly bot: User;
  /** Of the bot. */
  readonly token: string;
  readonly team: { readonly id: string; readonly name: string };
  person(facts: PersonFacts): User;
  /** A token of a user. */
  tokenOf(user: User): string;
  revoke(token: string): void;
  /** Makes a token one of the bot's. */
  grant(token: string): void;
  /** The events of what is done by it go out at its end, the last first. */
  lastFirst(act: () => void): void;
  direct(user: User): Channel;
  channel(facts: { readonly name: string; readonly type?: "O" | "P" | "G"; readonly members: readonly User[] }): Channel;
  say(user: User, channel: Channel, message: string, more?: SayMore): Post;
  /** Brings the event of a post again, as the next one. */
  redeliver(postId: string): void;
  edit(user: User, post: Post, message: string): void;
  remove(user: User, post: Post): void;
  react(user: User, post: Post, emoji: string, isOn?: boolean): void;
  join(user: User, channel: Channel): void;
  leave(user: User, channel: Channel): void;
  archive(channel: Channel): void;
  /** Custom slash commands, by id. */
  readonly commands: ReadonlyMap<string, SlashCommand>;
  call(user: User, channel: Channel, line: string, options?: CallOptions): Promise<{ readonly status: number; readonly body: string }>;
  /** The bot may not manage slash commands from now on. */
  forbidCommands(): void;
  /** Presses a button: the server posts to the address that the bot gave. `proxied` says which address stands for another. */
  press(user: User, post: Post, name: string, proxied?: Readonly<Record<string, string>>): Promise<{ readonly status: number; readonly body: unknown }>;
  /** Posts that are seen, oldest first. */
  posts(channel: Channel): readonly Post[];
  file(id: string): { readonly name: string; readonly data: Buffer } | undefined;
  reactions(post: Post): readonly string[];
  readonly typing: readonly { readonly channelId: string; readonly parentId: string }[];
  /** Of the bot, open and signed in. */
  sockets(): number;
  readonly conflicts: number;
  readonly resumed: number;
  readonly begun: number;
  /** After this nobody can resume a connection, as after a restart. */
  forgetConnections(): void;
  /** Sockets are signed in by the challenge only, as behind a proxy that drops headers. */
  ignoreSocketHeaders(): void;
  /** Posts of the bot that are taken in this time; undefined: all. */
  limitRate(limit: { readonly posts: number; readonly perMs: number } | undefined): void;
  /** A post with this pending id is being saved. */
  holdPending(pendingId: string): void;
  /** Moves the server's clock. */
  step(ms: number): void;
}

interface CallOptions {
  /** Where public addresses really are. */
  readonly proxied?: Readonly<Record<string, string>>;
  /** Another token than the command's. */
  readonly token?: string;
}

/** The server answers after its event went out. */
const ANSWER_MS = 2;

function createRateLimit(now: () => number) {
  let limit: { readonly posts: number; readonly perMs: number } | undefined;
  let taken: number[] = [];
  return {
    set(next: typeof limit): void {
      limit = next;
      taken = [];
    },
    /** How long to wait. Undefined: it is taken. */
    waitFor({ method, path }: Asked): number | undefined {
      if (!limit || method !== "POST" || path !== "/api/v4/posts") return undefined;
      const { posts, perMs } = limit;
      taken = taken.filter((at) => at > now() - perMs);
      if (taken.length >= posts) return taken[0]! + perMs - now();
      taken.push(now());
      return undefined;
    },
  };
}

export async function startMattermost(): Promise<FakeMattermost> {
  let offset = 0;
  const clock = (): number => Date.now() + offset;
  const tokens = new Map<string, string>();
  const userOf = (token: string): string | undefined => tokens.get(token);
  const typing: { channelId: string; parentId: string }[] = [];
  const rate = createRateLimit(clock);
  const sockets = createSockets(userOf);
  const world = createWorld(clock, (event, data, to) => {
    const audience = to.channelId === undefined ? [to.userId!] : world.members.get(to.channelId)!;
    for (const userId of audience) sockets.send(userId, event, data, to);
  });
  const commands = new Map<string, SlashCommand>();
  let mayManage = true;
  const routes = createRoutes(world, userOf, (line) => typing.push(line), { commands, mayManage: () => mayManage });

  async function handle(asked: Asked): Promise<Answer> {
    const waitMs = rate.waitFor(asked);
    if (waitMs !== undefined) {
      const seconds = String(Math.ceil(waitMs / 1000));
      return { status: 429, body: "limit exceeded\n", headers: { "retry-after": seconds, "x-ratelimit-reset": seconds, "x-ratelimit-remaining": "0" } };
    }
    const answer = routes(asked);
    if (asked.method === "POST" && asked.path === "/api/v4/posts") await delay(ANSWER_MS);
    return answer;
  }
  const server = await startFakeServer({ handle, socket: sockets.open, upgrade: ({ path }) => (path === "/api/v4/websocket" ? undefined : 404) });

  function person({ username, first_name = "", isBot }: PersonFacts): User {
    return world.add({ id: newId(), username, nickname: "", first_name, last_name: "", ...(isBot ? { is_bot: true } : {}) });
  }
  function tokenOf({ id }: User): string {
    const known = [...tokens].find(([, userId]) => userId === id)?.[0];
    const token = known ?? newId();
    tokens.set(token, id);
    return token;
  }
  const bot = person({ username: "clawbot", isBot: true });
  const token = tokenOf(bot);

  async function press(
    user: User,
    post: Post,
    name: string,
    proxied: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const attachments = (world.post(post.id).props["attachments"] ?? []) as readonly { readonly actions?: readonly PostAction[] }[];
    const action = attachments.flatMap(({ actions = [] }) => actions).find((one) => one.name === name);
    if (action?.integration?.url === undefined) throw new Error(`there is no button "${name}" below this post`);
    const channel = world.channels.get(post.channel_id)!;
    const { origin, pathname } = new URL(action.integration.url);
    const response = await fetch(`${proxied[origin] ?? origin}${pathname}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        user_id: user.id,
        user_name: user.username,
        channel_id: channel.id,
        channel_name: channel.name,
        team_id: channel.team_id,
        team_domain: "engineering",
        post_id: post.id,
        trigger_id: Buffer.from(`${newId()}:${user.id}`).toString("base64"),
        type: "",
        data_source: "",
        context: action.integration.context ?? {},
      }),
    });
    const text = await response.text();
    return { status: response.status, body: text.startsWith("{") ? (JSON.parse(text) as unknown) : text };
  }

  /** A user calls a slash command; the server posts it to its address as a form. */
  async function call(
    user: User,
    channel: Channel,
    line: string,
    { proxied = {}, token: forged }: CallOptions = {},
  ): Promise<{ readonly status: number; readonly body: string }> {
    const [first = "", ...rest] = line.split(" ");
    const found = [...commands.values()].find(({ trigger }) => `/${trigger}` === first);
    if (!found) throw new Error(`the server has no command ${first}`);
    const { origin, pathname } = new URL(found.url);
    const form = new URLSearchParams({
      channel_id: channel.id,
      channel_name: channel.name,
      command: first,
      response_url: "https://chat.example.com/hooks/commands/x",
      team_domain: "engineering",
      team_id: found.team_id,
      text: rest.join(" "),
      token: forged ?? found.token,
      trigger_id: Buffer.from(`${newId()}:${user.id}`).toString("base64"),
      user_id: user.id,
      user_name: user.username,
    });
    const response = await fetch(`${proxied[origin] ?? origin}${pathname}`, { method: "POST", body: form });
    return { status: response.status, body: await response.text() };
  }

  function memberChange(user: User, channel: Channel, isIn: boolean): void {
    const members = world.members.get(channel.id)!;
    if (isIn) members.add(user.id);
    const event = isIn ? "user_added" : "user_removed";
    const audience = [...members];
    if (!isIn) members.delete(user.id);
    for (const id of audience) {
      // The one who is taken out hears of it alone.
      const own = !isIn && id === user.id;
      const data = own
        ? { channel_id: channel.id, remover_id: user.id }
        : { user_id: user.id, team_id: channel.team_id, ...(isIn ? {} : { remover_id: user.id }) };
      sockets.send(id, event, data, own ? { userId: id } : { channelId: channel.id });
    }
  }

  return {
    url: server.url,
    server,
    bot,
    token,
    team: world.team,
    typing,
    person,
    tokenOf,
    press,
    commands,
    call,
    forbidCommands: () => void (mayManage = false),
    revoke: (revoked) => void tokens.delete(revoked),
    grant: (granted) => void tokens.set(granted, bot.id),
    lastFirst: (act) => sockets.lastFirst(act),
    direct: ({ id }) => world.direct(bot.id, id),
    channel: ({ name, type = "O", members }) => world.addChannel({ type, name, display_name: name }, [bot.id, ...members.map(({ id }) => id)]),
    say(user, channel, message, { rootId = "", files = [], props = {}, type = "" } = {}) {
      const fileIds = files.map((file) => world.addFile(user.id, file).id);
      return world.create(user.id, { channel_id: channel.id, message, root_id: rootId, file_ids: fileIds, props }, { type });
    },
    redeliver: (postId) => world.announce(world.post(postId)),
    edit: (user, { id }, message) => void world.edit(user.id, id, { message }),
    remove: (user, { id }) => world.remove(user.id, id),
    react: (user, { id }, emoji, isOn = true) => void world.react(user.id, id, emoji, isOn),
    join: (user, channel) => memberChange(user, channel, true),
    leave: (user, channel) => memberChange(user, channel, false),
    archive(channel) {
      channel.delete_at = clock();
    },
    posts: ({ id }) =>
      world
        .rows(id)
        .filter((post) => post.delete_at === 0)
        .map((post) => forClients(post)),
    file(id) {
      const found = world.files.get(id);
      return found && { name: found.info.name, data: found.data };
    },
    reactions: ({ id }) => world.reactions.filter(({ post_id: postId }) => postId === id).map(({ emoji_name: emoji }) => emoji),
    sockets: () => sockets.count(bot.id),
    get conflicts() {
      return sockets.conflicts;
    },
    get resumed() {
      return sockets.resumed;
    },
    get begun() {
      return sockets.begun;
    },
    forgetConnections: () => sockets.forget(),
    ignoreSocketHeaders: () => sockets.ignoreHeaders(),
    limitRate: (limit) => rate.set(limit),
    holdPending: (pendingId) => world.hold(pendingId),
    step(ms) {
      offset += ms;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
