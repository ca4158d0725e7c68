/**
 * A bare `http` and `ws` server for calibration: sends a challenge, answers every request with the same payload, closes on what is
 * no request and cuts such sockets off after two seconds. Tells its port on the standard output.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";

const CUT_OFF_MS = 2000;
const PAYLOAD = { text: "x".repeat(400) };

function idOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { readonly id?: unknown } | null)?.id;
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  const server = createServer({ headersTimeout: 10_000, connectionsCheckingInterval: 2000, noDelay: true }, (_, response) => response.end("ok"));
  const sockets = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false });
  server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => {});
    sockets.handleUpgrade(request, socket, head, (ws) => {
      ws.on("error", () => {});
      ws.on("message", (data: Buffer) => {
        const id = idOf(data.toString("utf8"));
        if (id !== undefined) return ws.send(JSON.stringify({ type: "res", id, ok: true, payload: PAYLOAD }));
        ws.close();
        setTimeout(() => ws.terminate(), CUT_OFF_MS);
      });
      ws.send(JSON.stringify({ type: "event", event: "connect.challenge", payload: { nonce: "n", ts: 0 } }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  console.log((server.address() as AddressInfo).port);
  process.stdin.on("end", () => process.exit(0)).resume();
}
