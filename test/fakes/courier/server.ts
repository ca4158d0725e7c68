/** The platform of docs/channels/kit.md: an HTTP API with idempotency keys, and signed webhooks that are posted until they are taken. */
import { createHmac } from "node:crypto";
import { createDeliveries, type Deliveries } from "../../../src/plugin-testing/fake-server/deliveries.ts";
import { type Answer, type Asked, type FakeServer, startFakeServer } from "../../../src/plugin-testing/fake-server/server.ts";

export interface CourierMessage {
  readonly id: string;
  readonly to: string;
  readonly text: string;
  readonly token: string;
}

export interface Written {
  readonly id: string;
  readonly from: { readonly id: string; readonly name: string };
  readonly text: string;
  readonly group?: string | undefined;
  readonly mentioned?: boolean | undefined;
}

export interface FakeCourier extends FakeServer {
  /** What bots sent, oldest first. */
  readonly sent: readonly CourierMessage[];
  /** Tokens that are accepted. */
  readonly tokens: Set<string>;
  /** Where webhooks go; a URL that nobody answers is tried again. */
  postTo(url: () => string | undefined, secret: string): void;
  /** Posts messages, each in a request until it is taken. */
  readonly deliveries: Deliveries<Written>;
  /** Posts any body, signed, once. Gives the status. */
  post(body: string, at?: number): Promise<number>;
  /** One message in so many milliseconds for each chat, others are refused with the time to wait. */
  limit(pauseMs: number | undefined): void;
}

const MAX_CHARS = 2000;
/** Each post has a time of its own, and so another signature: seconds within what receivers take for fresh. */
const SPREAD_S = 200;

export async function startCourier(tokens: readonly string[]): Promise<FakeCourier> {
  const sent: CourierMessage[] = [];
  const keys = new Map<string, string>();
  const accepted = new Set(tokens);
  const lastAt = new Map<string, number>();
  const over = new AbortController();
  let pauseMs: number | undefined;
  let target: { readonly url: () => string | undefined; readonly secret: string } | undefined;

  function take({ headers, fields }: Asked, token: string): Answer {
    const { to, text, key } = fields as { to?: unknown; text?: unknown; key?: unknown };
    if (typeof to !== "string" || typeof text !== "string" || text === "") return { status: 400, body: { error: "to and text are needed" } };
    if (text.length > MAX_CHARS) return { status: 400, body: { error: `a message has at most ${MAX_CHARS} characters` } };
    const before = typeof key === "string" ? keys.get(`${headers.authorization} ${key}`) : undefined;
    if (before !== undefined) return { body: { id: before } };
    const wait = pauseMs === undefined ? 0 : (lastAt.get(to) ?? 0) + pauseMs - Date.now();
    if (wait > 0) return { status: 429, headers: { "retry-after": String(Math.ceil(wait / 100) / 10) }, body: { error: "too many messages" } };
    lastAt.set(to, Date.now());
    const id = `c${sent.length + 1}`;
    sent.push({ id, to, text, token });
    if (typeof key === "string") keys.set(`${headers.authorization} ${key}`, id);
    return { body: { id } };
  }

  const server = await startFakeServer({
    handle(asked) {
      const token = String(asked.headers.authorization).replace(/^Bearer /, "");
      if (!accepted.has(token)) return { status: 401, body: { error: "no such token" } };
      if (asked.path === "/me") return { body: { name: "claw" } };
      return asked.path === "/messages" ? take(asked, token) : undefined;
    },
  });

  async function post(body: string, at = Math.floor(Date.now() / 1000)): Promise<number> {
    const url = target?.url();
    if (!target || url === undefined) return 0;
    const signature = createHmac("sha256", target.secret).update(`${at}.${body}`).digest("hex");
    const headers = { "content-type": "application/json", "x-courier-time": String(at), "x-courier-signature": signature };
    return fetch(url, { method: "POST", headers, body, signal: AbortSignal.any([over.signal, AbortSignal.timeout(10_000)]) }).then(
      ({ status }) => status,
      () => 0,
    );
  }

  const deliveries = createDeliveries<Written>({
    // 409: it came before, which is as good.
    send: async (message, attempt) =>
      [200, 409].includes(await post(JSON.stringify({ messages: [message] }), Math.floor(Date.now() / 1000) - SPREAD_S / 2 + (attempt % SPREAD_S))),
  });

  return Object.assign(server, {
    sent,
    tokens: accepted,
    postTo: (url: () => string | undefined, secret: string) => void (target = { url, secret }),
    deliveries,
    post,
    limit: (ms: number | undefined) => void (pauseMs = ms),
    async [Symbol.asyncDispose]() {
      over.abort();
      deliveries[Symbol.dispose]();
      await server.close();
    },
  });
}
