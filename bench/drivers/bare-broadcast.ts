/**
 * A bare `ws` server for calibration: sends the text it is given to every client, in one loop. Tells its port on the standard output and
 * broadcasts once per line on the standard input.
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { WebSocketServer } from "ws";

if (import.meta.main) {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
  await once(server, "listening");
  console.log((server.address() as AddressInfo).port);
  for await (const line of createInterface({ input: process.stdin })) for (const client of server.clients) client.send(line);
  process.exit(0);
}
