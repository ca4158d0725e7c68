/** One WebSocket of a client, from its handshake to its end. */
import { decodeBinaryNode, encodeBinaryNode, getBinaryNodeChild, type BinaryNode, type proto } from "baileys";
import { setTimeout as delay } from "node:timers/promises";
import type { WebSocket } from "ws";
import { createNoiseServer, type NoiseRoot } from "./noise.ts";
import { answerQuery } from "./queries.ts";
import { type LinkedDevice, lidOf, type World } from "./world.ts";

export interface ConnectionEvents {
  /** The handshake is over. */
  greeted(): void;
  /** The client is not linked yet: it gets codes to show. */
  registering(connection: Connection, payload: proto.ClientPayload, noiseKey: Buffer): void;
  online(connection: Connection): void;
  message(connection: Connection, stanza: BinaryNode): Promise<void>;
  other(connection: Connection, stanza: BinaryNode): void;
  loggedOut(device: LinkedDevice): void;
  closed(connection: Connection): void;
}

export interface ConnectionOptions {
  readonly root: NoiseRoot;
  readonly world: World;
  readonly mediaHost: string;
  readonly events: ConnectionEvents;
  /** Answers no question until it is lifted, as a server does that hangs. */
  isHanging(): boolean;
  /** Before anything is taken. */
  delayMs(): number;
}

export interface Connection {
  readonly device: LinkedDevice | undefined;
  /** It has got what waited for it. */
  readonly isOnline: boolean;
  send(node: BinaryNode): void;
  /** Ends the stream with an error, as the server does. */
  end(error: BinaryNode): void;
  /** Breaks the connection without a word. */
  reset(): void;
  close(): void;
}

const seconds = (): string => String(Math.floor(Date.now() / 1000));

export function openConnection(socket: WebSocket, { root, world, mediaHost, events, isHanging, delayMs }: ConnectionOptions): Connection {
  let device: LinkedDevice | undefined;
  let isOnline = false;
  let order: Promise<void> = Promise.resolve();
  const noise = createNoiseServer({ root, send: (data) => socket.send(data), hello: ({ payload, noiseKey }) => greet(payload, noiseKey), frame });

  const connection: Connection = {
    get device() {
      return device;
    },
    get isOnline() {
      return isOnline;
    },
    send: (node) => noise.write(encodeBinaryNode(node)),
    end(error) {
      connection.send(error);
      socket.close();
    },
    reset: () => socket.terminate(),
    close: () => socket.close(),
  };

  function greet(payload: proto.ClientPayload, noiseKey: Buffer): void {
    events.greeted();
    if (payload.devicePairingData) return events.registering(connection, payload, noiseKey);
    const found = world.device(String(payload.username), payload.device ?? 0);
    if (!found || !found.noiseKey.equals(noiseKey)) return connection.end({ tag: "failure", attrs: { reason: "401", location: "test" } });
    device = found;
    connection.send({ tag: "success", attrs: { t: seconds(), lid: lidOf(found), props: "1", companion_enc_static: "" } });
  }

  function active(): void {
    if (isOnline || !device) return;
    isOnline = true;
    const waiting = device.pending;
    for (const [at, stanza] of waiting.entries()) connection.send({ ...stanza, attrs: { ...stanza.attrs, offline: String(at) } });
    connection.send({ tag: "ib", attrs: { from: "s.whatsapp.net" }, content: [{ tag: "offline", attrs: { count: String(waiting.length) } }] });
    events.online(connection);
  }

  async function take(stanza: BinaryNode): Promise<void> {
    if (isHanging()) return;
    if (delayMs() > 0) await delay(delayMs());
    if (stanza.tag === "iq" && device && (stanza.attrs["type"] === "get" || stanza.attrs["type"] === "set")) {
      const known = device;
      let wantsActive = false;
      const answer = await answerQuery(
        { world, device, mediaHost, removed: () => events.loggedOut(known), active: () => (wantsActive = getBinaryNodeChild(stanza, "active") !== undefined) },
        stanza,
      );
      connection.send(answer);
      if (wantsActive) active();
    } else if (stanza.tag === "message") await events.message(connection, stanza);
    else events.other(connection, stanza);
  }

  function frame(data: Buffer): void {
    order = order
      .then(async () => take(await decodeBinaryNode(data)))
      .catch((error: unknown) => {
        // A client that sends what cannot be read is cut off.
        process.stderr.write(`fake whatsapp: ${error instanceof Error ? error.stack : String(error)}\n`);
        socket.terminate();
      });
  }

  socket.on("message", (data: Buffer) => {
    try {
      noise.read(data);
    } catch (error) {
      process.stderr.write(`fake whatsapp: ${String(error)}\n`);
      socket.terminate();
    }
  });
  socket.on("close", () => events.closed(connection));
  return connection;
}
