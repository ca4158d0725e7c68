/** The fake against the library as it is, without our channel: linking, messages both ways, and what a server refuses. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeWASocket, useMultiFileAuthState, WA_CERT_DETAILS, type WASocket } from "baileys";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FakeWhatsApp, startWhatsApp } from "./index.ts";
import { textOf } from "./mail.ts";

const PATIENCE = { timeout: 15_000, interval: 10 };
const nothing = (): void => {};
const logger = { level: "silent", child: () => logger, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };

let whatsapp: FakeWhatsApp;
let folder: string;
let sockets: WASocket[];

beforeEach(async () => {
  whatsapp = await startWhatsApp();
  folder = mkdtempSync(join(tmpdir(), "openclaw-wa-fake-"));
  sockets = [];
  trustRoot(whatsapp.rootKey);
});
afterEach(async () => {
  for (const socket of sockets) await socket.end(undefined);
  await whatsapp[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function trustRoot(hex: string): void {
  Object.assign(WA_CERT_DETAILS, { PUBLIC_KEY: Buffer.from(hex, "hex") });
}

interface Client {
  readonly socket: WASocket;
  readonly texts: string[];
  code?: number | undefined;
  qr?: string | undefined;
  isOpen: boolean;
}

async function connect(): Promise<Client> {
  const { state, saveCreds } = await useMultiFileAuthState(folder);
  const socket = makeWASocket({ auth: state, waWebSocketUrl: whatsapp.url, logger });
  sockets.push(socket);
  const client: Client = { socket, texts: [], isOpen: false };
  socket.ev.on("creds.update", () => void saveCreds());
  socket.ev.on("messages.upsert", ({ messages }) =>
    client.texts.push(...messages.flatMap(({ key, message }) => (key.fromMe ? [] : (message?.conversation ?? [])))),
  );
  socket.ev.on("connection.update", ({ qr, connection, lastDisconnect }) => {
    client.qr = qr ?? client.qr;
    client.isOpen ||= connection === "open";
    client.code ??= (lastDisconnect?.error as { output?: { statusCode?: number } } | undefined)?.output?.statusCode;
  });
  return client;
}

async function link(): Promise<Client> {
  const first = await connect();
  await expect.poll(() => first.qr, PATIENCE).toBeDefined();
  whatsapp.scan(first.qr!);
  await expect.poll(() => first.code, PATIENCE).toBe(515);
  const second = await connect();
  await expect.poll(() => second.isOpen, PATIENCE).toBe(true);
  return second;
}

test("a device is linked, uploads its keys, and reads and writes in chats and groups", async () => {
  const { socket, texts } = await link();
  expect(whatsapp.world.devices[0]!.preKeys.length).toBeGreaterThan(100);
  const bob = whatsapp.world.person({ number: "491701234567", name: "Bob" });
  const group = whatsapp.world.group("Workshop", [whatsapp.me, bob]);
  await socket.sendMessage(bob.pn, { text: "to bob" });
  await socket.sendMessage(group.id, { text: "to all" });
  await expect
    .poll(() => whatsapp.world.seen.map(({ chat, message }) => [chat, textOf(message)]), PATIENCE)
    .toEqual([
      [bob.pn, "to bob"],
      [group.id, "to all"],
    ]);
  await whatsapp.deliver({ from: bob, message: { conversation: "from bob" } });
  await whatsapp.deliver({ from: bob, group, message: { conversation: "from the group" } });
  await expect.poll(() => texts.toSorted(), { ...PATIENCE, timeout: 30_000 }).toEqual(["from bob", "from the group"]);
  await expect.poll(() => whatsapp.pending.length, PATIENCE).toBe(0);
});

test("what comes while the device is away is brought when it is back", async () => {
  const { socket } = await link();
  await socket.end(undefined);
  const bob = whatsapp.world.person({ number: "491701234567", name: "Bob" });
  await whatsapp.deliver({ from: bob, message: { conversation: "meanwhile" } });
  const { texts } = await connect();
  await expect.poll(() => texts, { ...PATIENCE, timeout: 30_000 }).toEqual(["meanwhile"]);
});

test("a device that the phone removed is refused with 401", async () => {
  const { socket } = await link();
  await socket.end(undefined);
  whatsapp.unlink();
  const again = await connect();
  await expect.poll(() => again.code, PATIENCE).toBe(401);
});

test("a second connection of a device replaces the first with 440", async () => {
  const first = await link();
  await connect();
  await expect.poll(() => first.code, PATIENCE).toBe(440);
});

test("a group that the account is not in cannot be written to", async () => {
  const { socket } = await link();
  const bob = whatsapp.world.person({ number: "491701234567", name: "Bob" });
  const others = whatsapp.world.group("Others", [bob]);
  const acknowledged = socket.waitForMessage<{ attrs: Record<string, string> }>("3EB0000000000000000001");
  await socket.sendMessage(others.id, { text: "let me in" }, { messageId: "3EB0000000000000000001" });
  expect((await acknowledged)!.attrs).toMatchObject({ class: "message", error: "403" });
});
