/** Stands between a client and its server: counts, cuts, silences and slows connections, and speaks for the server. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onLines } from "./person.ts";

export interface Relay extends AsyncDisposable {
  readonly port: number;
  /** Connections right now. */
  open(): number;
  /** All that there ever were. */
  count(): number;
  /** How often one was made while another one stood. */
  doubles(): number;
  /** What clients wrote. */
  readonly lines: readonly string[];
  /** No client waits for an answer to a PING. */
  isQuiet(): boolean;
  /** Breaks what is connected; what is on its way arrives. */
  cut(): void;
  /** Nothing gets through any more, in either direction; the connections stay. */
  freeze(): void;
  /** What a client writes next with this in it reaches the server; then the connection breaks, and nothing comes back. */
  cutBehind(text: string): void;
  /** Everything takes so much longer, in both directions. */
  delay(ms: number): void;
  /** Bytes that clients get as if the server had sent them. */
  inject(bytes: Buffer): void;
  /** New connections get these lines and are closed; undefined: they reach the server. */
  refuse(lines: readonly string[] | undefined): void;
}

const tokenOf = (line: string): string => line.split(/[ :]/).at(-1)!;

export async function startRelay(to: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  const lines: string[] = [];
  const asked = new Set<string>();
  const frozen = new WeakSet<Socket>();
  let count = 0;
  let doubles = 0;
  let delayMs = 0;
  let last: string | undefined;
  let refusal: readonly string[] | undefined;

  /** In both directions, until one of them ends. */
  function join(near: Socket, far: Socket): void {
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      const later = (act: () => void): void => void (delayMs > 0 ? setTimeout(act, delayMs) : act());
      socket.on("data", (data: Buffer) => later(() => void (!frozen.has(near) && other.writable && other.write(data))));
      socket.on("end", () => later(() => other.end()));
      socket.on("error", () => other.destroy());
      socket.on("close", () => later(() => other.destroySoon()));
    }
  }

  const gate = createServer({ allowHalfOpen: true }, (near) => {
    count += 1;
    if (refusal) {
      near
        .on("error", () => {})
        .resume()
        .end(refusal.map((line) => `${line}\r\n`).join(""));
      return;
    }
    if (sockets.size > 0) doubles += 1;
    const far = connect({ host: "127.0.0.1", port: to, allowHalfOpen: true });
    join(near, far);
    const pings = new Set<string>();
    onLines(near, (line) => {
      lines.push(line);
      if (line.startsWith("PING ")) {
        pings.add(tokenOf(line));
        asked.add(tokenOf(line));
      }
      if (last === undefined || !line.includes(last)) return;
      last = undefined;
      frozen.add(near);
      near.destroySoon();
    });
    onLines(far, (line) => void (/^\S+ PONG /.test(line) && asked.delete(tokenOf(line))));
    sockets.add(near);
    near.on("close", () => {
      sockets.delete(near);
      // Nobody waits for these any more.
      for (const token of pings) asked.delete(token);
    });
  });
  gate.listen(0, "127.0.0.1");
  await once(gate, "listening");
  const cut = (): void => {
    for (const socket of sockets) socket.destroySoon();
    sockets.clear();
    asked.clear();
  };
  return {
    port: (gate.address() as AddressInfo).port,
    open: () => sockets.size,
    count: () => count,
    doubles: () => doubles,
    lines,
    isQuiet: () => asked.size === 0,
    cut,
    freeze: () => sockets.forEach((socket) => frozen.add(socket)),
    cutBehind: (text) => void (last = text),
    delay: (ms) => void (delayMs = ms),
    inject: (bytes) => sockets.forEach((socket) => void socket.write(bytes)),
    refuse: (next) => void (refusal = next),
    async [Symbol.asyncDispose]() {
      cut();
      gate.close();
      await once(gate, "close");
    },
  };
}
