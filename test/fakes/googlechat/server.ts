/** Google Chat over real sockets: its API, its tokens and keys, and the requests that it posts to an app. Written from the public documentation. */
import { type Answer, type Asked, createDeliveries, type FakeServer, startFakeServer } from "../../../src/plugin-testing/index.ts";
import { createGoogle, type FakeGoogle, type TokenFacts } from "./google.ts";
import { messageJson, spaceJson, userJson } from "./json.ts";
import { type Message, newId, type Space, type User } from "./objects.ts";
import { createRoutes } from "./routes.ts";
import { createWorld, type World } from "./world.ts";

export interface SayMore {
  /** A thread to write in. */
  readonly thread?: string | undefined;
  readonly quoted?: string | undefined;
  readonly mention?: boolean | undefined;
  readonly others?: readonly User[] | undefined;
  readonly file?: { readonly name: string; readonly mime: string; readonly data: Buffer } | undefined;
}

export interface FakeGoogleChat extends AsyncDisposable {
  readonly url: string;
  readonly server: FakeServer;
  readonly google: FakeGoogle;
  readonly world: World;
  readonly bot: User;
  person(displayName: string, email?: string): User;
  direct(user: User): Space;
  space(displayName: string, members: readonly User[]): Space;
  /** Where events are posted to; undefined: nobody is there, and it is tried again. */
  postTo(url: () => string | undefined): void;
  /** Events are those of a Workspace add-on from now on. */
  asAddOn(): void;
  /** Also messages in spaces that do not name the app, which the real platform does not post. */
  postAll(): void;
  /** Files and reactions are permitted, as for a service account that acts for a user. */
  permitUserActions(isPermitted?: boolean): void;
  say(user: User, space: Space, text: string, more?: SayMore): Message;
  /** The event of a message, as the app gets it. */
  messageEvent(message: Message): object;
  /** Posts the event of a message again, so many times at once. Default once. */
  redeliver(message: Message, times?: number): Promise<void>;
  /** Posts messages, the last first. */
  reorder(messages: readonly Message[]): Promise<void>;
  press(user: User, message: Message, button: string): Promise<void>;
  addApp(user: User, space: Space): Promise<void>;
  removeApp(user: User, space: Space): Promise<void>;
  /** Posts an event until it is taken, behind those of the same space. */
  deliver(event: object, lane?: string): Promise<void>;
  /** Posts once. Gives the status, 0 where nobody is there. */
  post(body: string, facts?: TokenFacts | { readonly authorization: string | undefined }): Promise<number>;
  /** Messages that are seen, oldest first. */
  messages(space: Space): readonly Message[];
  file(resourceName: string): { readonly name: string; readonly data: Buffer } | undefined;
  /** One message in so many milliseconds is taken for each space. */
  limitRate(perMs: number | undefined): void;
  /** Moves the clock. */
  step(ms: number): void;
}

const BUSY: Answer = { status: 429, body: { error: { code: 429, message: "Resource has been exhausted (e.g. check quota).", status: "RESOURCE_EXHAUSTED" } } };

interface Button {
  readonly text?: string;
  readonly onClick?: { readonly action?: { readonly function?: string; readonly parameters?: readonly { readonly key: string; readonly value: string }[] } };
}

/** Buttons anywhere in cards. */
function buttonsIn(value: unknown): Button[] {
  if (Array.isArray(value)) return value.flatMap(buttonsIn);
  if (typeof value !== "object" || value === null) return [];
  return "onClick" in value ? [value as Button] : Object.values(value).flatMap(buttonsIn);
}

/** An event in the form of Chat apps, or of Workspace add-ons. */
function createEvents(world: World, now: () => number, isAddOn: () => boolean) {
  const shown = (message: Message): object => messageJson(message, world.spaces.get(message.space)!, world.bot);
  const wrap = (type: string, payload: string, user: User, space: Space, more: { message?: object; parameters?: Record<string, string> }): object => {
    const eventTime = new Date(now()).toISOString();
    const { message, parameters } = more;
    const inside = { space: spaceJson(space), ...(message ? { message } : {}) };
    if (isAddOn()) {
      const common = { hostApp: "CHAT", platform: "WEB", ...(parameters ? { parameters } : {}) };
      return { commonEventObject: common, chat: { user: userJson(user), eventTime, [payload]: inside } };
    }
    const pressed = parameters
      ? { action: { actionMethodName: "openclaw", parameters: Object.entries(parameters).map(([key, value]) => ({ key, value })) }, common: { parameters } }
      : {};
    return { type, eventTime, user: userJson(user), ...inside, ...pressed };
  };
  return {
    message: (message: Message): object => wrap("MESSAGE", "messagePayload", message.sender, world.spaces.get(message.space)!, { message: shown(message) }),
    pressed: (user: User, message: Message, parameters: Record<string, string>): object =>
      wrap("CARD_CLICKED", "buttonClickedPayload", user, world.spaces.get(message.space)!, { message: shown(message), parameters }),
    added: (user: User, space: Space): object => wrap("ADDED_TO_SPACE", "addedToSpacePayload", user, space, {}),
    removed: (user: User, space: Space): object => wrap("REMOVED_FROM_SPACE", "removedFromSpacePayload", user, space, {}),
  };
}

/** Posts to the app: one event of a space after the other, each again until it is taken. */
function createPoster(google: FakeGoogle, isAddOn: () => boolean) {
  const over = new AbortController();
  let target: () => string | undefined = () => undefined;
  async function post(body: string, facts: TokenFacts | { readonly authorization: string | undefined } = {}): Promise<number> {
    const url = target();
    if (url === undefined) return 0;
    const authorization = "authorization" in facts ? facts.authorization : `Bearer ${google.tokenFor(isAddOn() ? withAddOn(facts) : facts)}`;
    const headers = { "content-type": "application/json", "user-agent": "Google-Dynamite", ...(authorization === undefined ? {} : { authorization }) };
    return fetch(url, { method: "POST", headers, body, signal: AbortSignal.any([over.signal, AbortSignal.timeout(10_000)]) }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 0,
    );
  }
  const withAddOn = (facts: TokenFacts): TokenFacts => ({
    ...facts,
    claims: { email: "service-123456789012@gcp-sa-gsuiteaddons.iam.gserviceaccount.com", ...facts.claims },
  });
  const deliveries = createDeliveries<object>({ send: async (event) => (await post(JSON.stringify(event))) === 200 });
  return {
    post,
    to: (url: () => string | undefined): void => void (target = url),
    deliveries,
    deliver: (event: object, lane: string): Promise<void> => deliveries.deliver(event, lane),
    end(): void {
      over.abort();
      deliveries[Symbol.dispose]();
    },
  };
}

export async function startGoogleChat(): Promise<FakeGoogleChat> {
  let offset = 0;
  const clock = (): number => Date.now() + offset;
  let [isAddOn, isAll, isForUsers] = [false, false, false];
  let perMs: number | undefined;
  const lastAt = new Map<string, number>();
  const world = createWorld(clock);
  const google: FakeGoogle = createGoogle(clock, () => server.url);
  const routes = createRoutes(world, { forUsers: () => isForUsers });

  function isTooEarly({ method, path }: Asked): boolean {
    const [, space] = /^\/v1\/(spaces\/[^/]+)\/messages$/.exec(path) ?? [];
    if (perMs === undefined || method !== "POST" || space === undefined) return false;
    if ((lastAt.get(space) ?? 0) + perMs > clock()) return true;
    lastAt.set(space, clock());
    return false;
  }
  const server: FakeServer = await startFakeServer({
    handle(asked) {
      const plain = google.answer(asked);
      if (plain) return plain;
      if (!google.isValid(asked)) {
        const message = "Request had invalid authentication credentials. Expected OAuth 2 access token.";
        return { status: 401, body: { error: { code: 401, message, status: "UNAUTHENTICATED" } } };
      }
      return isTooEarly(asked) ? BUSY : routes(asked);
    },
  });
  const poster = createPoster(google, () => isAddOn);
  const events = createEvents(world, clock, () => isAddOn);

  function say(user: User, { name, spaceType }: Space, text: string, { thread, quoted, mention, others = [], file }: SayMore = {}): Message {
    const mentions = [...(mention ? [world.bot] : []), ...others];
    const words = [...mentions.map(({ displayName }) => `@${displayName}`), text].join(" ");
    const attachment = file ? [world.addFile(name, file.name, file.mime, file.data)] : [];
    const message = world.create(user, name, { text: words, thread, quoted, mentions, attachment });
    if (spaceType === "DIRECT_MESSAGE" || mention || isAll) void poster.deliver(events.message(message), name);
    return message;
  }

  return {
    get url() {
      return server.url;
    },
    server,
    google,
    world,
    bot: world.bot,
    person: (displayName, email) => world.addUser(displayName, "HUMAN", email),
    direct: (user) => world.direct(user),
    space: (displayName, members) => world.addSpace(displayName, "SPACE", members),
    postTo: (url) => poster.to(url),
    asAddOn: () => void (isAddOn = true),
    postAll: () => void (isAll = true),
    permitUserActions: (isPermitted = true) => void (isForUsers = isPermitted),
    say,
    messageEvent: (message) => events.message(message),
    redeliver: (message, times = 1) => poster.deliveries.redeliver(events.message(message), times),
    reorder: (messages) =>
      poster.deliveries.reorder(() => {
        for (const message of messages) void poster.deliver(events.message(message), message.space);
      }),
    async press(user, message, name) {
      const button = buttonsIn(message.cardsV2).find(({ text }) => text === name);
      const parameters = button?.onClick?.action?.parameters;
      if (!parameters) throw new Error(`there is no button "${name}" in this message`);
      await poster.deliver(events.pressed(user, message, Object.fromEntries(parameters.map(({ key, value }) => [key, value]))), message.space);
    },
    async addApp(user, space) {
      space.members.add(world.bot.name);
      await poster.deliver(events.added(user, space), space.name);
    },
    async removeApp(user, space) {
      space.members.delete(world.bot.name);
      await poster.deliver(events.removed(user, space), space.name);
    },
    deliver: (event, lane = newId("lane")) => poster.deliver(event, lane),
    post: (body, facts) => poster.post(body, facts),
    messages: ({ name }) => world.messages.filter((message) => message.space === name && !message.isGone),
    file: (resourceName) => world.files.get(resourceName),
    limitRate: (ms) => void (perMs = ms),
    step: (ms) => void (offset += ms),
    async [Symbol.asyncDispose]() {
      poster.end();
      await server[Symbol.asyncDispose]();
    },
  };
}
