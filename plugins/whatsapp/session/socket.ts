/** One connection to WhatsApp. */
import type { AuthenticationState, BinaryNode, proto, WAMessage, WASocket } from "baileys";
import { type Library, quietLogger } from "./library.ts";
import { createLane, createStoring, type Lane } from "./storing.ts";

/** Why a connection ended: WhatsApp's code and words. */
export interface Ending {
  readonly code: number;
  readonly text: string;
}

export interface SocketDeps {
  readonly library: Library;
  readonly auth: AuthenticationState;
  readonly saveCreds: () => Promise<void>;
  readonly lane: Lane;
  /** Another server, for tests only. */
  readonly url?: string | undefined;
  readonly version?: [number, number, number] | undefined;
  /** Shown in the phone's list of linked devices. */
  readonly browser: [string, string, string];
  /** The text of the picture to scan. */
  qr?(text: string): void;
  /** The device was linked; WhatsApp asks for a new connection now. */
  linked?(): void;
  /** Resolves when the message is stored. */
  store(message: WAMessage, isBacklog: boolean): Promise<void>;
  /** Messages that did not come as a stanza of their own: changes of groups, what the phone brought later. */
  arrived(messages: readonly WAMessage[], isBacklog: boolean): void;
  /** A frame came. */
  heard?(): void;
  getMessage(id: string): Promise<proto.IMessage | undefined>;
  failed(what: string, error: unknown): void;
}

export interface Connection {
  readonly socket: WASocket;
  readonly opened: Promise<void>;
  readonly ended: Promise<Ending>;
  /** Runs what sends a message, after what is being read or sent. */
  readonly sending: Lane;
  close(): Promise<void>;
}

const CONNECT_MS = 20_000;
const QUERY_MS = 60_000;

/** The code in an error of the library; 428 where there is none. */
function endingOf(error: unknown): Ending {
  const { output, message } = (error ?? {}) as { output?: { statusCode?: number }; message?: string };
  return { code: output?.statusCode ?? 428, text: message ?? "the connection was closed" };
}

/**
 * The library looks things up before it queues a message, so that a later one can overtake, and puts those that waited on the server into a queue of their own,
 * which every new one overtakes. Here each waits for the one before it; so that the library works on all of them in the same way, it does not see which waited.
 */
function inOrder({ ws }: WASocket, saw: (stanza: BinaryNode) => void): void {
  const handlers = ws.listeners("CB:message") as ((stanza: BinaryNode) => unknown)[];
  const lane = createLane();
  ws.removeAllListeners("CB:message");
  ws.on("CB:message", (stanza: BinaryNode) => {
    saw(stanza);
    const { offline: _waited, ...attrs } = stanza.attrs;
    void lane(() => Promise.all(handlers.map((handle) => handle({ ...stanza, attrs }))));
  });
}

export function openSocket(deps: SocketDeps): Connection {
  const { library, auth, saveCreds, failed } = deps;
  const logger = quietLogger();
  const storing = createStoring({ library, lane: deps.lane, store: (message, isBacklog) => deps.store(message, isBacklog) });
  const socket = library.makeWASocket({
    auth: { creds: auth.creds, keys: library.makeCacheableSignalKeyStore(auth.keys, logger) },
    logger,
    browser: deps.browser,
    markOnlineOnConnect: false,
    syncFullHistory: false,
    emitOwnEvents: false,
    connectTimeoutMs: CONNECT_MS,
    defaultQueryTimeoutMs: QUERY_MS,
    makeSignalRepository: storing.makeSignalRepository,
    getMessage: async ({ id }) => (id ? deps.getMessage(id) : undefined),
    ...(deps.url === undefined ? {} : { waWebSocketUrl: deps.url }),
    ...(deps.version === undefined ? {} : { version: deps.version }),
  });
  const opened = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Ending>();
  // Nobody may wait for it.
  opened.promise.catch(() => {});
  const remember = (): void => {
    const me = socket.authState.creds.me;
    if (me) storing.self = { id: me.id, lid: me.lid };
  };
  remember();
  inOrder(socket, (stanza) => storing.saw(stanza));
  socket.ws.on("frame", () => deps.heard?.());
  socket.ev.on("creds.update", () => {
    remember();
    saveCreds().catch((error: unknown) => failed("the credentials could not be stored", error));
  });
  socket.ev.on("messages.upsert", ({ messages, type }) => deps.arrived(messages, type === "append"));
  socket.ev.on("connection.update", ({ connection, qr, isNewLogin, lastDisconnect }) => {
    if (qr !== undefined) deps.qr?.(qr);
    if (isNewLogin === true) deps.linked?.();
    if (connection === "open") {
      remember();
      opened.resolve();
    }
    if (connection !== "close") return;
    const ending = endingOf(lastDisconnect?.error);
    opened.reject(new Error(ending.text));
    ended.resolve(ending);
  });
  return {
    socket,
    opened: opened.promise,
    ended: ended.promise,
    sending: (task) => deps.lane(() => storing.sending(task)),
    async close() {
      await socket.end(undefined);
    },
  };
}
