/** Stands between a client and its server: counts, cuts and silences connections. */
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
}

const tokenOf = (line: string): string => line.split(/[ :]/).at(-1)!;

export async function startRelay(to: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  const lines: string[] = [];
  const asked = new Set<string>();
  let count = 0;
  let doubles = 0;
  const gate = createServer((near) => {
    count += 1;
    if (sockets.size > 0) doubles += 1;
    const far = connect({ host: "127.0.0.1", port: to });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.pipe(other);
      socket.on("error", () => other.destroy());
      socket.on("close", () => other.destroy());
    }
    onLines(near, (line) => {
      lines.push(line);
      if (line.startsWith("PING ")) asked.add(tokenOf(line));
    });
    onLines(far, (line) => void (/^\S+ PONG /.test(line) && asked.delete(tokenOf(line))));
    sockets.add(near);
    near.on("close", () => sockets.delete(near));
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
    freeze: () => sockets.forEach((socket) => void socket.unpipe().resume()),
    async [Symbol.asyncDispose]() {
      cut();
      gate.close();
      await once(gate, "close");
    },
  };
}
