/** Slack over real sockets: the Web API and Socket Mode on one port, files and uploads on another. */
import { randomUUID } from "node:crypto";
import { type Answer, type Asked, type FakeServer, startFakeServer } from "../../../src/plugin-testing/index.ts";
import { createDelivery, type Delivery } from "./delivery.ts";
import type { Args, Caller, MethodHost, TokenKind } from "./method.ts";
import { callMethod, scopeOf } from "./methods.ts";
import { createPeople, type People } from "./people.ts";
import { createWorld, slackId, type StoredFile, type World } from "./world.ts";

export interface FakeSlack extends AsyncDisposable {
  readonly world: World;
  readonly people: People;
  readonly delivery: Delivery;
  /** Faults, and what was asked. */
  readonly server: FakeServer;
  readonly files: FakeServer;
  readonly apiRoot: string;
  readonly botToken: string;
  readonly appToken: string;
  readonly userToken: string;
  readonly statuses: MethodHost["statuses"];
  /** The scopes of the bot's token. */
  readonly scopes: Set<string>;
  /** Methods of the Web API that were called, in order. */
  calls(): readonly string[];
  /** How often an answer was posted to each `response_url`. */
  responses(): readonly { readonly path: string; readonly body: Readonly<Record<string, unknown>> }[];
  /** From now on tokens are refused with this error. */
  refuseTokens(error: string | undefined): void;
  switchSocketModeOff(): void;
  /** Takes so many messages in a time, then answers 429. */
  limitRate(limit: { readonly messages: number; readonly perMs: number } | undefined): void;
}

export const BOT_SCOPES = [
  "chat:write",
  "chat:write.customize",
  "im:write",
  "channels:read",
  "channels:history",
  "users:read",
  "emoji:read",
  "reactions:read",
  "reactions:write",
  "pins:read",
  "pins:write",
  "files:read",
  "files:write",
  "assistant:write",
];

/** Methods that only read take their arguments from the query or a form; what comes as JSON is not seen. */
const TAKES_JSON = /^(?:chat\.|conversations\.open|reactions\.(?:add|remove)|pins\.(?:add|remove)|files\.completeUploadExternal|assistant\.|apps\.|auth\.)/;

function argsOf(method: string, { query, headers, fields }: Asked): Args {
  const isJson = headers["content-type"]?.includes("json") === true;
  const body = isJson && !TAKES_JSON.test(method) ? {} : fields;
  const all = { ...Object.fromEntries(query), ...body };
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]));
}

/** Tokens and what they may do. */
function createTokens() {
  const scopes = new Set(BOT_SCOPES);
  const part = (): string => randomUUID().replaceAll("-", "");
  const tokens = { bot: `xoxb-1-${part()}`, app: `xapp-1-A1-1-${part()}`, user: `xoxp-1-${part()}` };
  let refused: string | undefined;
  const may: Readonly<Record<TokenKind, ReadonlySet<string>>> = {
    bot: scopes,
    user: new Set([...BOT_SCOPES, "search:read"]),
    app: new Set(["connections:write"]),
  };
  return {
    tokens,
    scopes,
    refuse: (error: string | undefined): void => void (refused = error),
    /** The caller, or the error. */
    caller({ headers }: Asked): Caller | string {
      const [, token] = /^Bearer (\S+)$/.exec(headers.authorization ?? "") ?? [];
      if (token === undefined) return "not_authed";
      const kind = (["bot", "app", "user"] as const).find((name) => tokens[name] === token);
      if (kind === undefined) return "invalid_auth";
      return refused ?? { kind, scopes: may[kind] };
    },
  };
}

function createRateLimit() {
  let limit: { readonly messages: number; readonly perMs: number } | undefined;
  let taken = 0;
  let from = 0;
  return {
    set(next: typeof limit): void {
      limit = next;
      taken = 0;
      from = 0;
    },
    /** Milliseconds to wait; 0: it is taken. */
    take(): number {
      if (!limit) return 0;
      const now = Date.now();
      if (now - from >= limit.perMs) [from, taken] = [now, 0];
      taken += 1;
      return taken <= limit.messages ? 0 : from + limit.perMs - now;
    },
  };
}

/** Uploads and private files, on a host of their own. */
async function startFiles(world: World, isToken: (header: string | undefined) => boolean) {
  const announced = new Map<string, { readonly name: string; readonly length: number; file?: StoredFile }>();
  const server = await startFakeServer({
    handle(asked): Answer | undefined {
      const [, kind, id = ""] = /^\/(upload\/v1|files-pri)\/(?:T-)?([^/]+)/.exec(asked.path) ?? [];
      if (kind === "upload/v1") {
        const upload = announced.get(id);
        if (!upload) return { status: 403, body: "Forbidden" };
        const data = asked.parts[0]?.data ?? asked.body;
        if (data.length !== upload.length) return { status: 400, body: "Wrong length" };
        upload.file = world.file(upload.name, "application/octet-stream", data);
        return { status: 200, body: `OK - ${data.length}` };
      }
      const file = kind === "files-pri" ? world.files.get(id) : undefined;
      if (!file) return undefined;
      // Without a token there is a page to sign in, not an error.
      if (!isToken(asked.headers.authorization)) return { body: "<!DOCTYPE html><title>Sign in to Slack</title>", headers: { "content-type": "text/html" } };
      return { body: file.data, headers: { "content-type": file.mimetype } };
    },
  });
  return {
    server,
    announce(name: string, length: number) {
      const id = slackId("F");
      announced.set(id, { name, length });
      return { id, url: `${server.url}/upload/v1/${id}` };
    },
    uploaded(id: string, title?: string): StoredFile | undefined {
      const file = announced.get(id)?.file;
      if (file && title !== undefined) file.title = title;
      return file;
    },
  };
}

export async function startSlack(options: { readonly ackMs?: number; readonly pingMs?: number } = {}): Promise<FakeSlack> {
  const world = createWorld();
  const auth = createTokens();
  const rate = createRateLimit();
  const delivery = createDelivery({ appId: world.appId, ackMs: options.ackMs ?? 3000, pingMs: options.pingMs ?? 5000 });
  const tickets = new Set<string>();
  const uses = new Map<string, number>();
  const answered: { path: string; body: Readonly<Record<string, unknown>> }[] = [];
  const statuses: { channel: string; threadTs: string; status: string }[] = [];
  let hasSockets = true;
  const files = await startFiles(world, (header) => header === `Bearer ${auth.tokens.bot}` || header === `Bearer ${auth.tokens.user}`);
  const host: MethodHost = {
    world,
    statuses,
    fileHost: () => files.server.url,
    announce: files.announce,
    uploaded: files.uploaded,
    hasSockets: () => hasSockets,
    openSocket() {
      const ticket = randomUUID();
      tickets.add(ticket);
      return `${server.url.replace("http:", "ws:")}/link/?ticket=${ticket}&app_id=${world.appId}`;
    },
    // The app is subscribed to messages, reactions and pins: its own come back to it.
    posted: (message) => void people.event(people.shown(message)),
    changed: (message, before) => void people.changed(message, { ...people.shown(message), text: before }),
    deleted: (message) => void people.deleted(message),
    reacted: (message, name, what) => void people.reacted(message, name, world.bot, what),
    pinned: (message, what) => void people.pinned(message, world.bot, what),
  };

  function respond(asked: Asked): Answer {
    const [, , channel = "", user = ""] = /^\/(commands|actions)\/([^/]+)\/([^/]+)\//.exec(asked.path) ?? [];
    const count = (uses.get(asked.path) ?? 0) + 1;
    uses.set(asked.path, count);
    if (count > 5) return { status: 404, body: { ok: false, error: "used_url" } };
    answered.push({ path: asked.path, body: asked.fields });
    const isOpen = asked.fields["response_type"] === "in_channel";
    const text = typeof asked.fields["text"] === "string" ? asked.fields["text"] : "";
    const { bot } = world;
    world.post({ channel, text, blocks: asked.fields["blocks"], user: bot.id, botId: bot.botId, ephemeralFor: isOpen ? undefined : user });
    return { body: "ok" };
  }

  function api(asked: Asked): Answer {
    const method = asked.path.slice("/api/".length);
    const caller = auth.caller(asked);
    if (typeof caller === "string") return { body: { ok: false, error: caller } };
    const wait = method === "chat.postMessage" ? rate.take() : 0;
    if (wait > 0) return { status: 429, body: { ok: false, error: "ratelimited" }, headers: { "retry-after": String(Math.max(1, Math.ceil(wait / 1000))) } };
    const accepted = scopeOf(method);
    const headers = { "x-oauth-scopes": [...caller.scopes].join(","), ...(accepted === undefined ? {} : { "x-accepted-oauth-scopes": accepted }) };
    return { body: callMethod(method, argsOf(method, asked), caller, host), headers };
  }

  const server: FakeServer = await startFakeServer({
    handle: (asked) => (asked.path.startsWith("/api/") ? api(asked) : /^\/(?:commands|actions)\//.test(asked.path) ? respond(asked) : undefined),
    // An address is good for one connection.
    upgrade: ({ query }) => (tickets.delete(query.get("ticket") ?? "") ? undefined : 401),
    socket: (socket) => delivery.joined(socket),
  });
  const people = createPeople(world, delivery, { files: () => files.server.url, responses: () => server.url });
  return {
    world,
    people,
    delivery,
    server,
    files: files.server,
    statuses,
    scopes: auth.scopes,
    apiRoot: `${server.url}/api`,
    botToken: auth.tokens.bot,
    appToken: auth.tokens.app,
    userToken: auth.tokens.user,
    calls: () => server.asked.filter(({ path }) => path.startsWith("/api/")).map(({ path }) => path.slice("/api/".length)),
    responses: () => answered,
    refuseTokens: auth.refuse,
    switchSocketModeOff() {
      hasSockets = false;
      delivery.disconnect("link_disabled");
    },
    limitRate: rate.set,
    async [Symbol.asyncDispose]() {
      delivery.close();
      await server[Symbol.asyncDispose]();
      await files.server[Symbol.asyncDispose]();
    },
  };
}
