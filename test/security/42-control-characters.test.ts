/** 42: control characters from chat names or keys reached a terminal. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { escapeControls, escapeLine, isPrintable, printableName } from "../../src/base/printable.ts";
import { finalizeInboundContext } from "../../src/channels/index.ts";
import { terminalText } from "../../src/cli/main.ts";
import { boundedEvent } from "../../src/conversation/inbound.ts";
import { openStore } from "../../src/store/index.ts";
import { createStranger } from "../harness/stranger.ts";
import { CONNECT, openClient } from "../harness/gateway-client.ts";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";

const ESC = "\u001b";
/** Clears the screen, sets the title, hides, turns around, begins a line of its own, goes back in it, and rings. */
const HOSTILE = `x${ESC}[2J${ESC}]0;owned\u0007${ESC}[8m\u202eevil\u2066\nroot# rm\r\u009b31m\u0085\u0000\b\u200b\u2028y`;
const TOKEN = "a-token-of-this-test-0123456789";
/** What may be in the output of a command: everything but control characters, other than the ends of lines. */
// oxlint-disable-next-line no-control-regex
const ACTS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/u;

test("one rule: what is printable, what a name is without the rest, and how the rest is shown", () => {
  for (const fine of ["agent:main:main", "Ada Löve 👩‍💻", "日本語", "שלום", "a b"]) {
    expect([isPrintable(fine), printableName(fine), escapeLine(fine), escapeControls(fine)], fine).toEqual([true, fine, fine, fine]);
  }
  expect(isPrintable(HOSTILE)).toBe(false);
  expect(printableName(HOSTILE)).toBe("xevil root# rm y");
  expect(printableName(`${ESC}[2J \n`)).toBe("");
  expect(escapeControls(`a${ESC}[2Jb\nc\td\r\ne`)).toBe("a\\u001b[2Jb\nc\td\ne");
  expect(escapeLine("a\nb\u202ec")).toBe("a\\u000ab\\u202ec");
  for (const char of HOSTILE.match(/[^\x20-\x7e]/gu)!) expect(isPrintable(char), JSON.stringify(char)).toBe(false);
  expect(JSON.parse(escapeControls(JSON.stringify({ name: HOSTILE })))).toEqual({ name: HOSTILE });
});

test("of styles only those of our own pass, and only where there are colours", () => {
  expect(terminalText(`${ESC}[31mred${ESC}[0m ${ESC}[8mhidden ${ESC}[5mblink ${ESC}[2K`, true)).toBe(
    `${ESC}[31mred${ESC}[0m \\u001b[8mhidden \\u001b[5mblink \\u001b[2K`,
  );
  expect(terminalText(`${ESC}[31mred`, false)).toBe("\\u001b[31mred");
});

describe("entrances", () => {
  test("names of senders and chats are one line that can be seen, however a channel gives them", () => {
    const event = boundedEvent({
      kind: "message",
      id: "1",
      to: "1",
      text: "hi",
      chat: { type: "group", id: "g", title: HOSTILE, channelName: HOSTILE, space: HOSTILE },
      sender: { id: "s", name: HOSTILE, username: HOSTILE, tag: HOSTILE },
    });
    const names = [event.chat.title, event.chat.channelName, event.chat.space, event.sender.name, event.sender.username, event.sender.tag];
    expect(new Set(names)).toEqual(new Set(["xevil root# rm y"]));
    const context = finalizeInboundContext({
      Body: "",
      ChatType: "group",
      SenderName: HOSTILE,
      GroupSubject: HOSTILE,
      GroupChannel: HOSTILE,
      ConversationLabel: HOSTILE,
    });
    for (const name of [context.SenderName, context.GroupSubject, context.GroupChannel, context.ConversationLabel]) expect(isPrintable(name)).toBe(true);
  });
});

let place: Place;
let gateway: GatewayProcess;

/** A state with hostile text in every field that has a name, as one that was made before the rule, or by a plugin, may have. */
async function hostileState(): Promise<void> {
  const plugin = join(place.stateDir, "extensions", "hello");
  mkdirSync(plugin, { recursive: true });
  writeFileSync(join(plugin, "openclaw.plugin.json"), JSON.stringify({ id: "hello", name: HOSTILE, description: HOSTILE, version: HOSTILE, configSchema: {} }));
  writeFileSync(join(plugin, "index.js"), "export function register(api) { api.logger.warn(" + JSON.stringify(HOSTILE) + "); }");
  await using store = await openStore({ stateDir: place.stateDir, clock: systemClock });
  const now = systemClock.now();
  const key = `agent:main:${HOSTILE.toLowerCase()}`;
  const entry = {
    sessionId: "s1",
    updatedAt: now,
    label: HOSTILE,
    displayName: HOSTILE,
    subject: HOSTILE,
    model: HOSTILE,
    modelProvider: HOSTILE,
    channel: HOSTILE,
  };
  await store.write("sessions.put", { key, agentId: "main", entry });
  await store.write("sessions.put", { key: "agent:main:main", agentId: "main", entry: { ...entry, sessionId: "s2" } });
  const message = { channel: "telegram", account: HOSTILE, conversation: HOSTILE, messageId: "4711", kind: "message", text: HOSTILE, sender: HOSTILE };
  await store.write("inbox.accept", { ...message, sessionKey: key, agentId: "main", settled: { outcome: "silent", why: HOSTILE } });
  await store.write("allow.add", { channel: "telegram", account: "default", sender: HOSTILE, source: "pairing" });
  const data = { senderId: HOSTILE, channel: "telegram", accountId: "default", meta: { name: HOSTILE }, name: HOSTILE };
  await store.write("pairing.request", { id: "p", kind: "channel", subject: `telegram:default:${HOSTILE}`, code: "ABCD2345", expiresAt: now + 600_000, data });
  const rule = { kind: "exact", args: [HOSTILE], cwd: HOSTILE, files: [{ path: HOSTILE, digest: "none" }] };
  await store.write("commands.allow", { id: "remembered-1", agentId: HOSTILE, program: HOSTILE, rule, command: HOSTILE });
}

beforeAll(async () => {
  place = makePlace();
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { token: TOKEN } },
      agents: { list: [{ id: "main", name: HOSTILE, identity: { name: HOSTILE, theme: HOSTILE } }] },
      tools: { alsoAllow: [HOSTILE] },
      channels: { telegram: { botToken: "1:x", enabled: false, name: HOSTILE, accounts: { "odd\nname": { name: HOSTILE, enabled: false } } } },
      bindings: [{ agentId: "main", match: { channel: "telegram", accountId: HOSTILE } }],
    }),
  );
  writeFileSync(join(place.home, "exec-approvals.json"), "{}");
  await hostileState();
  writeFileSync(
    join(place.stateDir, "exec-approvals.json"),
    JSON.stringify({ version: 1, agents: { [HOSTILE]: { allowlist: [{ pattern: `/bin/${HOSTILE}`, lastUsedCommand: HOSTILE }] } } }),
  );
  gateway = await place.gateway();
  expect(gateway.url, gateway.output()).toBeDefined();
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  rmSync(place.home, { recursive: true, force: true });
});

const LISTINGS = [
  "sessions",
  "sessions --json",
  "status",
  "status --deep",
  "health",
  "health --verbose",
  "agents list",
  "channels list",
  "channels status",
  "pairing list telegram",
  "pairing allowed telegram",
  "devices list",
  "approvals get",
  "approvals remembered",
  "approvals pending",
  "plugins list",
  "plugins info hello",
  "plugins stats",
  "config validate",
  "config get agents",
  "doctor",
  "tools list",
  "models status",
  "why 4711",
  "logs --limit 500",
  "route explain --channel telegram --to 1",
  "call sessions.list",
];

test("no listing sends a terminal anything but text and the ends of lines", { timeout: 120_000 }, async () => {
  const stranger = createStranger(gateway.url!, TOKEN);
  await stranger.ask();
  const quiet: string[] = [];
  for (const line of LISTINGS) {
    const { stdout, stderr } = place.cli(...line.split(" "));
    expect([line, ACTS.exec(stdout), ACTS.exec(stderr)]).toEqual([line, null, null]);
    if (!/evil/.test(stdout + stderr)) quiet.push(line);
  }
  // Most of them have something hostile to show; where none has, this would test nothing.
  expect(LISTINGS.length - quiet.length, quiet.join(", ")).toBeGreaterThanOrEqual(12);
  expect(ACTS.exec(gateway.output()), "the log on the console").toBeNull();
});

test("a hostile name begins no line of its own in a table", () => {
  expect(place.cli("sessions").stdout).not.toMatch(/^root# rm/m);
  expect(place.cli("approvals", "remembered").stdout).not.toMatch(/^root# rm/m);
  expect(place.cli("plugins", "list").stdout).not.toMatch(/^root# rm/m);
});

test("keys are refused and names cleaned where clients give them", async () => {
  await using client = await openClient(gateway.url!);
  await client.connect({ ...CONNECT, auth: { token: TOKEN }, client: { id: "test", mode: "test", version: "1", platform: "x", displayName: HOSTILE } });
  const call = (method: string, params: object) => place.cli("call", method, "--params", JSON.stringify(params));
  const send = call("chat.send", { sessionKey: `agent:main:${HOSTILE}`, message: "hi", idempotencyKey: "1" });
  expect([send.code, send.stderr]).toEqual([1, expect.stringContaining("non-printable")]);
  const patched = call("sessions.patch", { key: "agent:main:a\nb", label: "x" });
  expect([patched.code, patched.stderr]).toEqual([1, expect.stringContaining("non-printable")]);
  const labelled = call("sessions.patch", { key: "agent:main:fine", label: HOSTILE });
  expect([labelled.code, labelled.stderr]).toEqual([1, expect.stringContaining("invalid label")]);
  const presence = call("system-presence", {}).stdout;
  expect(presence).toContain("xevil root# rm y");
  expect(presence).not.toMatch(/\\u001b|\\n|\\u202e/);
  expect(call("sessions.delete", { key: `agent:main:${HOSTILE.toLowerCase()}` }), "what was there before can be removed").toMatchObject({ code: 0 });
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const body = JSON.stringify({ model: "openclaw", messages: [{ role: "user", content: "hi" }], user: "a\u202eb" });
  const answer = await fetch(`${gateway.url}/tools/invoke`, {
    method: "POST",
    headers,
    body: JSON.stringify({ tool: "session_status", args: {}, sessionKey: HOSTILE }),
  });
  expect([answer.ok, ACTS.exec(await answer.text())]).toEqual([false, null]);
  const completed = await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", headers, body });
  expect([completed.ok, ACTS.exec(await completed.text())]).toEqual([false, null]);
});
