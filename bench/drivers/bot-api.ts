/** A Bot API server that does as little as possible, so that what is measured is the gateway. */
import { once } from "node:events";
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface SentText {
  readonly chatId: string;
  readonly text: string;
  /** When the request was there. */
  readonly at: number;
}

export interface BotApi extends AsyncDisposable {
  readonly apiRoot: string;
  readonly token: string;
  readonly sent: readonly SentText[];
  /** Messages of these chats, one each, come together. Gives the time at which they could be fetched. */
  say(chatIds: readonly number[], text: string): number;
  /** Resolves when the gateway has asked for what comes behind everything that was said. */
  confirmed(): Promise<number>;
  /** Resolves when so many texts were sent, in all. */
  sentTexts(count: number): Promise<void>;
  /** Resolves when a client waits for updates. */
  polled(): Promise<void>;
  /** Milliseconds of one `sendMessage` over an open connection, and nothing else. */
  bareCall(): Promise<number>;
}

const TOKEN = "7012345678:AAF-token-of-the-bench-000000000000";
const LIMIT = 100;
const BARE_CHAT = "bare";

const ANSWERS: Readonly<Record<string, unknown>> = {
  getMe: { id: 7_012_345_678, is_bot: true, first_name: "Bench", username: "bench_bot", can_join_groups: true, can_read_all_group_messages: true },
  getWebhookInfo: { url: "", has_custom_certificate: false, pending_update_count: 0 },
};

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString("utf8");
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
}

function give(response: ServerResponse, result: unknown): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ ok: true, result }));
}

function create() {
  let updates: { readonly update_id: number; readonly message: object }[] = [];
  let nextId = 1;
  let messageId = 1000;
  let offset = 0;
  let waiting: ServerResponse | undefined;
  const sent: SentText[] = [];
  const watchers = new Set<() => void>();
  const look = (): void => watchers.forEach((watcher) => watcher());

  function until(holds: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const watcher = (): void => {
      if (!holds()) return;
      watchers.delete(watcher);
      resolve();
    };
    watchers.add(watcher);
    watcher();
    return promise;
  }

  function poll(params: Readonly<Record<string, unknown>>, response: ServerResponse): void {
    offset = Math.max(offset, Number(params["offset"] ?? 0));
    updates = updates.filter(({ update_id: id }) => id >= offset);
    if (updates.length > 0) give(response, updates.slice(0, LIMIT));
    else {
      waiting = response;
      response.once("close", () => (waiting = waiting === response ? undefined : waiting));
    }
    look();
  }

  return {
    sent,
    until,
    poll,
    get nextId() {
      return nextId;
    },
    get offset() {
      return offset;
    },
    get isPolled() {
      return waiting !== undefined;
    },
    sendMessage(params: Readonly<Record<string, unknown>>, response: ServerResponse): void {
      const chatId = String(params["chat_id"]);
      messageId += 1;
      if (chatId !== BARE_CHAT) sent.push({ chatId, text: String(params["text"]), at: performance.now() });
      give(response, { message_id: messageId, date: Math.floor(Date.now() / 1000), chat: { id: Number(chatId), type: "private" } });
      look();
    },
    say(chatIds: readonly number[], text: string): number {
      const date = Math.floor(Date.now() / 1000);
      for (const id of chatIds) {
        const person = { id, first_name: "Ada" };
        messageId += 1;
        updates.push({
          update_id: nextId++,
          message: { message_id: messageId, date, chat: { ...person, type: "private" }, from: { ...person, is_bot: false }, text },
        });
      }
      const at = performance.now();
      const asked = waiting;
      waiting = undefined;
      if (asked) give(asked, updates.slice(0, LIMIT));
      return at;
    },
  };
}

export async function startBotApi(): Promise<BotApi> {
  const state = create();
  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
    const method = request.url?.split("/").at(-1) ?? "";
    bodyOf(request).then(
      (params) => {
        if (method === "getUpdates") state.poll(params, response);
        else if (method === "sendMessage") state.sendMessage(params, response);
        else give(response, ANSWERS[method] ?? true);
      },
      () => response.destroy(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const apiRoot = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    apiRoot,
    token: TOKEN,
    sent: state.sent,
    say: state.say,
    async confirmed() {
      await state.until(() => state.offset >= state.nextId);
      return performance.now();
    },
    sentTexts: (count) => state.until(() => state.sent.length >= count),
    polled: () => state.until(() => state.isPolled),
    async bareCall() {
      const body = JSON.stringify({ chat_id: BARE_CHAT, text: "ok w1 w2 w3", parse_mode: "HTML" });
      const started = performance.now();
      const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const asked = httpRequest(`${apiRoot}/bot${TOKEN}/sendMessage`, { method: "POST", agent, headers });
      asked.end(body);
      const [answer] = (await once(asked, "response")) as [IncomingMessage];
      for await (const _ of answer);
      return performance.now() - started;
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
