/** A bare `ws` server for calibration: sends back what it gets. Tells its port on the standard output and ends with its standard input. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";

if (import.meta.main) {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
  server.on("connection", (socket) => socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary })));
  await once(server, "listening");
  console.log((server.address() as AddressInfo).port);
  await once(process.stdin.resume(), "end");
  process.exit(0);
}
