/** One browser with the extension: its handshake, the tabs that it shares, and what is asked of them. Everything that it sends is checked here. */
import type { RawData, WebSocket } from "ws";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { isRecord } from "../../base/records.ts";
import { isProof, proofOf } from "./secret.ts";

const VERSION = 1;
const NONCE = /^[0-9a-f]{32}$/;
const HANDSHAKE_MS = 5000;
/** The extension pings every 20 seconds. */
const SILENCE_MS = 60_000;
const MAX_TABS = 100;
const MAX_WAITING = 2000;
const MAX_BUFFERED_BYTES = 32 * 1024 * 1024;

export interface Answer {
  readonly result?: unknown;
  readonly error?: string;
}

export interface TabCommand {
  readonly tab: number;
  /** A frame of another site or a worker of the tab. */
  readonly session?: string | undefined;
  readonly method: string;
  readonly params?: unknown;
}

export interface TabEvent {
  readonly tab: number;
  readonly session?: string | undefined;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A browser whose extension has proved that it knows the secret. */
export interface ExtensionLink {
  readonly userAgent: string;
  /** Tabs on which the user clicked the button. */
  readonly tabs: ReadonlySet<number>;
  /** `done` is called in the order of what the browser says, and exactly once. */
  attach(tab: number, done: (answer: Answer) => void): void;
  command(command: TabCommand, done: (answer: Answer) => void): void;
  /** Lets go of a tab, which stays shared. */
  release(tab: number): void;
  /** Gives a tab back: the user has to share it again. */
  unshare(tab: number): void;
  close(code: number, reason: string): void;
}

export interface LinkHandlers {
  opened(link: ExtensionLink): void;
  closed(link: ExtensionLink): void;
  shared(link: ExtensionLink, tab: number): void;
  unshared(link: ExtensionLink, tab: number): void;
  event(link: ExtensionLink, event: TabEvent): void;
  refused(why: string): void;
}

export interface LinkDeps {
  readonly clock: Clock;
  readonly ids: Pick<Ids, "hex">;
  readonly port: number;
  readonly secret: string;
}

type Message = Readonly<Record<string, unknown>>;

const tabOf = ({ tab }: Message): number | undefined => (typeof tab === "number" && Number.isSafeInteger(tab) && tab >= 0 ? tab : undefined);

function parsed(data: RawData): Message | undefined {
  try {
    const found: unknown = JSON.parse((Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString("utf8"));
    return isRecord(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

/** The link after the handshake. */
function openLink(
  socket: WebSocket,
  { userAgent, tabs: shared }: Message,
  handlers: LinkHandlers,
): { readonly link: ExtensionLink; take(message: Message): void; end(): void } {
  const listed = (Array.isArray(shared) ? shared : []).slice(0, MAX_TABS).map((tab: unknown) => tabOf({ tab }));
  const tabs = new Set(listed.filter((tab) => tab !== undefined));
  const waiting = new Map<number, (answer: Answer) => void>();
  let last = 0;

  const send = (message: object): void => {
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > MAX_BUFFERED_BYTES) socket.terminate();
    else socket.send(JSON.stringify(message));
  };
  function ask(message: object, done: (answer: Answer) => void): void {
    if (socket.readyState !== socket.OPEN || waiting.size >= MAX_WAITING) {
      queueMicrotask(() => done({ error: waiting.size >= MAX_WAITING ? "the tab has too many pending requests" : GONE }));
      return;
    }
    last += 1;
    waiting.set(last, done);
    send({ ...message, id: last });
  }
  const link: ExtensionLink = {
    userAgent: typeof userAgent === "string" ? userAgent.slice(0, 500) : "",
    tabs,
    attach: (tab, done) => ask({ type: "attach", tab }, done),
    command: (command, done) => ask({ type: "command", ...command }, done),
    release: (tab) => send({ type: "release", tab }),
    unshare: (tab) => send({ type: "unshare", tab }),
    close: (code, reason) => socket.close(code, reason),
  };

  function take(message: Message): void {
    const { type, id, session, method, params, result, error } = message;
    const tab = tabOf(message);
    if (type === "ping") send({ type: "pong" });
    else if (type === "result" && typeof id === "number") {
      const done = waiting.get(id);
      waiting.delete(id);
      done?.(typeof error === "string" ? { error: error.slice(0, 1000) } : { result });
    } else if (tab === undefined) return;
    else if (type === "shared" && !tabs.has(tab) && tabs.size < MAX_TABS) {
      tabs.add(tab);
      handlers.shared(link, tab);
    } else if (type === "unshared" && tabs.delete(tab)) handlers.unshared(link, tab);
    else if (type === "event" && tabs.has(tab) && typeof method === "string") {
      handlers.event(link, { tab, session: typeof session === "string" ? session : undefined, method, params: isRecord(params) ? params : {} });
    }
  }

  return {
    link,
    take,
    end() {
      handlers.closed(link);
      for (const done of waiting.values()) done({ error: GONE });
      waiting.clear();
    },
  };
}

const GONE = "the connection to the extension ended";

/** Takes a socket whose origin is the extension's: the relay proves itself first, then the extension. */
export function acceptLink(socket: WebSocket, { clock, ids, port, secret }: LinkDeps, handlers: LinkHandlers): void {
  const relayNonce = ids.hex(16);
  let extensionNonce: string | undefined;
  let open: ReturnType<typeof openLink> | undefined;
  let limit = clock.after(HANDSHAKE_MS, () => socket.terminate());

  const refuse = (why: string): void => {
    handlers.refused(why);
    socket.close(1008, why);
  };
  function handshake(message: Message): void {
    const { type, version, nonce, proof } = message;
    if (type === "hello" && extensionNonce === undefined) {
      if (version !== VERSION) return refuse("the extension has another version: run openclaw browser extension install, then reload it in Chrome");
      if (typeof nonce !== "string" || !NONCE.test(nonce)) return refuse("no nonce");
      extensionNonce = nonce;
      socket.send(JSON.stringify({ type: "challenge", nonce: relayNonce, proof: proofOf(secret, "relay", { port, extensionNonce, relayNonce }) }));
      return;
    }
    if (type !== "proof" || extensionNonce === undefined || typeof proof !== "string") return refuse("expected the handshake");
    if (!isProof(proof, secret, "extension", { port, extensionNonce, relayNonce })) return refuse("wrong secret");
    open = openLink(socket, message, handlers);
    socket.send('{"type":"ready"}');
    handlers.opened(open.link);
  }
  socket.on("message", (data) => {
    const message = parsed(data);
    if (!message) return refuse("not JSON");
    limit[Symbol.dispose]();
    limit = clock.after(open ? SILENCE_MS : HANDSHAKE_MS, () => socket.terminate());
    if (open) open.take(message);
    else handshake(message);
  });
  socket.on("error", () => socket.terminate());
  socket.on("close", () => {
    limit[Symbol.dispose]();
    open?.end();
  });
}
