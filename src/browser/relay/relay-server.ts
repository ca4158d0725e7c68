/**
 * Where the extension connects: a port of the loopback interface with one path. Web pages are kept out by their origin, names that were pointed at this
 * machine by the host header, and programs of other users by the proof of the secret.
 */
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { loadHttp } from "../../base/builtin.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError, systemCode } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import { acceptLink, type ExtensionLink, type LinkHandlers } from "./extension-link.ts";
import { EXTENSION_ID } from "./secret.ts";

export interface RelayServerDeps {
  readonly clock: Clock;
  readonly ids: Pick<Ids, "hex">;
  readonly log: Pick<Logger, "warn">;
  readonly port: number;
  readonly secret: string;
}

/** Who uses the tabs. */
export type LinkListener = Omit<LinkHandlers, "refused">;

export interface RelayServer extends AsyncDisposable {
  readonly port: number;
  readonly links: ReadonlySet<ExtensionLink>;
  /** Waits until a browser with the extension is connected; false when none came in time. */
  connected(ms: number, signal?: AbortSignal): Promise<boolean>;
  /** Reports to one listener at a time; undefined when there is one already. */
  listen(listener: LinkListener): Disposable | undefined;
}

const PATH = "/extension";
const ORIGIN = `chrome-extension://${EXTENSION_ID}`;
/** Browsers and browser profiles of one person. */
const MAX_LINKS = 8;
/** Connections, with those that are still in their handshake. */
const MAX_SOCKETS = 32;
/** A print or a picture of a long page. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const WARN_EVERY_MS = 60_000;

/** Only the extension asks like this; a page cannot choose its origin, and a name that leads here stands in the host header. */
function refusalOf({ url, headers }: IncomingMessage, port: number): string | undefined {
  const { host, origin, upgrade } = headers;
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) return "host";
  if (origin !== ORIGIN) return "origin";
  if (url !== PATH || upgrade?.toLowerCase() !== "websocket") return "path";
  return undefined;
}

async function listening(server: Server, port: number): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", resolve);
    });
  } catch (error) {
    const why = systemCode(error) === "EADDRINUSE" ? "another program is listening on it" : `it cannot be opened (${systemCode(error) ?? "unknown"})`;
    throw new AppError(
      "UNAVAILABLE",
      `the extension cannot connect to port ${port}: ${why}. Stop that program, or set browser.profiles.chrome (driver "extension", cdpUrl "http://127.0.0.1:<free port>", color) and run openclaw browser extension install again`,
      { cause: error },
    );
  }
}

/** Refusals are reported, but not each of a flood. */
function warnings({ clock, log }: Pick<RelayServerDeps, "clock" | "log">): (why: string) => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (why) => {
    if (clock.monotonic() - warnedAt < WARN_EVERY_MS) return;
    warnedAt = clock.monotonic();
    log.warn(`a connection to the extension's port was refused: ${why}`);
  };
}

/** True with the next browser that connects; false when none does in time. */
async function arrival(arrivals: Set<() => void>, clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const arrived = (): void => resolve(true);
  const given = (): void => resolve(false);
  using _timer = clock.after(ms, given);
  arrivals.add(arrived);
  signal?.addEventListener("abort", given, { once: true });
  try {
    return await promise;
  } finally {
    arrivals.delete(arrived);
    signal?.removeEventListener("abort", given);
  }
}

export async function openRelayServer({ clock, ids, log, port: wanted, secret }: RelayServerDeps): Promise<RelayServer> {
  const { WebSocketServer } = await import("ws");
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES });
  const open = new Set<Duplex>();
  const links = new Set<ExtensionLink>();
  const arrivals = new Set<() => void>();
  let listener: LinkListener | undefined;
  let port = wanted;
  const refused = warnings({ clock, log });
  const handlers: LinkHandlers = {
    opened(link) {
      if (links.size >= MAX_LINKS) return link.close(1013, "too many browsers are connected");
      links.add(link);
      listener?.opened(link);
      for (const arrived of arrivals) arrived();
    },
    closed(link) {
      if (links.delete(link)) listener?.closed(link);
    },
    shared: (link, tab) => links.has(link) && listener?.shared(link, tab),
    unshared: (link, tab) => listener?.unshared(link, tab),
    event: (link, event) => listener?.event(link, event),
    refused,
  };

  const server = loadHttp().createServer((_request, response) => {
    response.writeHead(403, { connection: "close" }).end();
  });
  server.maxConnections = MAX_SOCKETS;
  server.headersTimeout = 5000;
  server.requestTimeout = 5000;
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  server.on("upgrade", (request, socket: Duplex, head: Buffer) => {
    const why = refusalOf(request, port);
    if (why !== undefined) {
      refused(`its ${why} is not the extension's`);
      socket.on("error", () => socket.destroy());
      socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, socket, head, (made: WebSocket) => acceptLink(made, { clock, ids, port, secret }, handlers));
  });
  await listening(server, wanted);
  server.unref();
  ({ port } = server.address() as AddressInfo);

  return {
    port,
    links,
    connected: async (ms, signal) => links.size > 0 || arrival(arrivals, clock, ms, signal),
    listen(next) {
      if (listener) return undefined;
      listener = next;
      return {
        [Symbol.dispose]() {
          if (listener === next) listener = undefined;
        },
      };
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate();
      for (const socket of open) socket.destroy();
      sockets.close();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
