/**
 * The least a program can do for a turn, for calibration: a message is on disk before it is acknowledged, a model is asked and its pieces are passed on as
 * they come, the answer is on disk before its end is sent. No sessions' settings, prompt, tools, hooks, journal, or anything that explains what happened.
 * `node bench/drivers/bare-turn.ts <the model's address> <database>` prints its port; the first line of its standard input is sent with every
 * request beside the conversation.
 */
import { once } from "node:events";
import { Agent, request } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { WebSocketServer, type WebSocket } from "ws";

type Write = readonly ["accept" | "append" | "settle", ...string[]];
type Message = { readonly role: string; readonly content: string };

interface Frame {
  readonly id: string;
  readonly method: string;
  readonly params: { readonly sessionKey: string; readonly message: string; readonly idempotencyKey: string };
}

/** The thread that writes. */
function serveStore(file: string): void {
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE inbox (id TEXT PRIMARY KEY, text TEXT NOT NULL, state TEXT NOT NULL);
    CREATE TABLE entries (seq INTEGER PRIMARY KEY, session TEXT NOT NULL, line TEXT NOT NULL)`);
  const statements = {
    accept: db.prepare("INSERT INTO inbox VALUES (?, ?, 'new')"),
    append: db.prepare("INSERT INTO entries (session, line) VALUES (?, ?)"),
    settle: db.prepare("UPDATE inbox SET state = 'settled' WHERE id = ?"),
  };
  parentPort!.on("message", ({ id, writes }: { readonly id: number; readonly writes: readonly Write[] }) => {
    db.exec("BEGIN IMMEDIATE");
    for (const [kind, ...values] of writes) statements[kind].run(...values);
    db.exec("COMMIT");
    parentPort!.postMessage(id);
  });
}

function openStore(file: string): (writes: readonly Write[]) => Promise<void> {
  const worker = new Worker(new URL(import.meta.url), { workerData: file });
  const waiting = new Map<number, () => void>();
  let last = 0;
  worker.on("message", (id: number) => {
    waiting.get(id)!();
    waiting.delete(id);
  });
  return (writes) =>
    new Promise((resolve) => {
      waiting.set((last += 1), resolve);
      worker.postMessage({ id: last, writes });
    });
}

/** Asks the model; `onText` gets the pieces. */
function askModel(base: URL, agent: Agent, body: string, onText: (piece: string) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const headers = { "content-type": "application/json", authorization: "Bearer none", "content-length": Buffer.byteLength(body) };
  const call = request({ agent, hostname: base.hostname, port: base.port, path: `${base.pathname}/chat/completions`, method: "POST", headers }, (response) => {
    let rest = "";
    response.setEncoding("utf8");
    response.on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        if (!line.startsWith("data: {")) continue;
        const { choices } = JSON.parse(line.slice(6)) as { readonly choices?: readonly { readonly delta?: { readonly content?: string } }[] };
        const piece = choices?.[0]?.delta?.content;
        if (piece) onText(piece);
      }
    });
    response.on("end", resolve).on("error", reject);
  });
  call.on("error", reject);
  call.end(body);
  return promise;
}

async function serve(base: URL, file: string): Promise<void> {
  const [line] = (await once(createInterface({ input: process.stdin }), "line")) as [string];
  const beside = JSON.parse(line) as { readonly messages: readonly Message[] };
  const commit = openStore(file);
  const agent = new Agent({ keepAlive: true });
  const sessions = new Map<string, Message[]>();

  async function turn(socket: WebSocket, { id, params: { sessionKey, message, idempotencyKey: runId } }: Frame): Promise<void> {
    const tell = (event: string, payload: object): void => socket.send(JSON.stringify({ type: "event", event, payload: { runId, sessionKey, ...payload } }));
    await commit([["accept", runId, message]]);
    socket.send(JSON.stringify({ type: "res", id, ok: true, payload: { runId, status: "started" } }));
    tell("agent", { stream: "lifecycle", data: { phase: "start" } });
    const messages = sessions.get(sessionKey) ?? [];
    sessions.set(sessionKey, messages);
    messages.push({ role: "user", content: message });
    let content = "";
    await askModel(base, agent, JSON.stringify({ ...beside, messages: [...beside.messages, ...messages] }), (delta) => {
      content += delta;
      tell("agent", { stream: "assistant", data: { text: content, delta } });
    });
    messages.push({ role: "assistant", content });
    await commit([
      ["append", sessionKey, JSON.stringify(messages.slice(-2))],
      ["settle", runId],
    ]);
    tell("agent", { stream: "lifecycle", data: { phase: "end" } });
    tell("chat", { state: "final", message: { role: "assistant", content: [{ type: "text", text: content }] } });
  }

  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
  await once(server, "listening");
  server.on("connection", (socket) => {
    socket.send(JSON.stringify({ type: "event", event: "connect.challenge", payload: { nonce: "none", ts: Date.now() } }));
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString("utf8")) as Frame;
      if (frame.method === "chat.send") void turn(socket, frame);
      else socket.send(JSON.stringify({ type: "res", id: frame.id, ok: true, payload: {} }));
    });
  });
  console.log((server.address() as AddressInfo).port);
}

if (!isMainThread) serveStore(workerData as string);
else if (import.meta.main) await serve(new URL(process.argv[2]!), process.argv[3]!);
