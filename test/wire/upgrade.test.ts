import { expect, test } from "vitest";
import { clientFrame, OPCODE } from "./frame.ts";
import { wireGateway } from "./conversation.ts";
import { connectTcp, openRaw, readHead, upgradeRequest } from "./raw-socket.ts";

const gateway = wireGateway();

async function headOf(text: string): Promise<string> {
  const socket = await connectTcp(gateway().port);
  socket.write(text);
  const { head } = await readHead(socket);
  socket.destroy();
  return head;
}

test.each<readonly [string, Readonly<Record<string, string | undefined>>, string | undefined]>([
  ["headers in other capitals", { connection: "keep-alive, UPGRADE", upgrade: "WebSocket" }, undefined],
  ["any path", {}, "GET /any/path?with=query HTTP/1.1"],
  ["its own origin", { origin: "http://127.0.0.1" }, undefined],
  ["version 8, which has the same frames", { "sec-websocket-version": "8" }, undefined],
])("an upgrade with %s is taken", async (_, over, line) => {
  expect(await headOf(upgradeRequest(over, line))).toMatch(/^HTTP\/1\.1 101 .*sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/is);
});

test.each([["permessage-deflate; client_max_window_bits"], ["x-webkit-deflate-frame"], ['"broken;;,']])("extensions are not negotiated: %s", async (offer) => {
  const head = await headOf(upgradeRequest({ "sec-websocket-extensions": offer }));
  expect(head).toMatch(/^HTTP\/1\.1 101 /);
  expect(head).not.toMatch(/sec-websocket-extensions/i);
});

test.each<readonly [string, string, number]>([
  ["without a key", upgradeRequest({ "sec-websocket-key": undefined }), 400],
  ["with a key that is too short", upgradeRequest({ "sec-websocket-key": "c2hvcnQ=" }), 400],
  ["with a key that is not base64", upgradeRequest({ "sec-websocket-key": "!".repeat(24) }), 400],
  ["without a version", upgradeRequest({ "sec-websocket-version": undefined }), 400],
  ["with version 12", upgradeRequest({ "sec-websocket-version": "12" }), 426],
  ["with version 14", upgradeRequest({ "sec-websocket-version": "14" }), 426],
  ["with a version that is no number", upgradeRequest({ "sec-websocket-version": "thirteen" }), 426],
  ["to another protocol", upgradeRequest({ upgrade: "h2c" }), 400],
  ["with subprotocols that are no tokens", upgradeRequest({ "sec-websocket-protocol": "a,,b" }), 400],
  ["by HTTP/1.0", upgradeRequest({}, "GET / HTTP/1.0"), 400],
  ["by POST", upgradeRequest({}, "POST / HTTP/1.1"), 405],
  ["of the canvas without a secret", upgradeRequest({}, "GET /__openclaw__/ws HTTP/1.1"), 401],
  ["under a foreign host name", upgradeRequest({ host: "gateway.attacker.example" }), 403],
  ["without a host name", upgradeRequest({ host: undefined }), 403],
  ["with 20 KiB of headers", upgradeRequest({ filler: "x".repeat(20_000) }), 431],
  ["that is TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400],
])("an upgrade %s is refused, and the socket ends", async (_, text, status) => {
  const socket = await connectTcp(gateway().port);
  socket.write(text);
  const { head } = await readHead(socket);
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(head).toMatch(/^connection: close(?:, upgrade)?$/im);
  if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve).resume());
});

test("the answer to a refused version names the one to use", async () => {
  const head = await headOf(upgradeRequest({ "sec-websocket-version": "12" }));
  expect(head).toMatch(/^sec-websocket-version: 13$/im);
  expect(head).toMatch(/^upgrade: websocket$/im);
  expect(head).toMatch(/^connection: close, upgrade$/im);
});

test("without Connection: Upgrade it is a request like others", async () => {
  expect(await headOf(upgradeRequest({ connection: undefined }))).toMatch(/^HTTP\/1\.1 200 /);
});

test("frames that come in one write with the upgrade are read", async () => {
  using raw = await openRaw(gateway().port, {}, clientFrame(OPCODE.ping, "early"));
  expect(await raw.pongs(1)).toEqual([Buffer.from("early")]);
});

test("an upgrade request in writes of one octet is taken", async () => {
  const socket = await connectTcp(gateway().port);
  for (const letter of upgradeRequest()) {
    socket.write(letter);
    await new Promise(setImmediate);
  }
  expect((await readHead(socket)).head).toMatch(/^HTTP\/1\.1 101 /);
  socket.destroy();
});
