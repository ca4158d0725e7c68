/**
 * The least a program can do to tell something to many: one `socket.write` each. For calibration. Tells its port on the standard output and writes
 * the bytes, given as base64 in a line on the standard input, to every socket.
 */
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { createInterface } from "node:readline";

if (import.meta.main) {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    socket.resume();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  console.log((server.address() as AddressInfo).port);
  for await (const line of createInterface({ input: process.stdin })) {
    const bytes = Buffer.from(line, "base64");
    for (const socket of sockets) socket.write(bytes);
  }
  process.exit(0);
}
