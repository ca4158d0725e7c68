import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { internal, invalid } from "../../test/fakes/imessage/index.ts";
import { ANNA, openBench, type Bench } from "./testing.ts";
import { parseTarget, targetText } from "./target.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

const sent = () => bench.mac.rows.filter(({ isFromMe }) => isFromMe);
const requests = () => bench.mac.asked.filter(({ method }) => method === "send").map(({ params }) => params);
const sendText = (to: string, text = "hi", more: Record<string, unknown> = {}, cfg: Record<string, unknown> = {}) =>
  bench.channel.outbound!.sendText!({ cfg: bench.cfg(cfg), to, text, ...more });

test("targets have one spelling each, and what names nobody is refused", () => {
  const spelled = (to: string): string => targetText(parseTarget(to));
  const targets: [string, string][] = [
    ["+49 (170) 123-4567", "+491701234567"],
    ["555 0100", "5550100"],
    ["Anna@Example.org", "anna@example.org"],
    ["SMS:+1 555 0100", "sms:+15550100"],
    ["imessage:chat_id:7", "chat_id:7"],
    ["chat:7", "chat_id:7"],
    ["group:7", "chat_id:7"],
    ["GUID:iMessage;+;chat12", "chat_guid:iMessage;+;chat12"],
    ["chatident:chat12", "chat_identifier:chat12"],
  ];
  for (const [to, normal] of targets) expect(spelled(to)).toBe(normal);
  for (const to of ["", "anna", "chat_id:x", "chat_id:", "chat_guid:", "12", "a b@c"]) expect(() => parseTarget(to)).toThrow(/names no/);
});

test("a person is written to by handle and a chat by any of its names, with service and region", async () => {
  const { group } = bench;
  await sendText(ANNA);
  await sendText("sms:555 0100", "hi", {}, { service: "imessage", region: "de" });
  await sendText(`chat_id:${group.id}`);
  await sendText(`chat_guid:${group.guid}`);
  await sendText(`chat_identifier:${group.identifier}`);
  expect(requests()).toEqual([
    { to: ANNA, text: "hi", service: "auto", region: "US" },
    { to: "5550100", text: "hi", service: "sms", region: "DE" },
    { chat_id: group.id, text: "hi", service: "auto", region: "US" },
    { chat_guid: group.guid, text: "hi", service: "auto", region: "US" },
    { chat_identifier: group.identifier, text: "hi", service: "auto", region: "US" },
  ]);
  expect(bench.mac.running()).toBe(0);
});

test("an account that runs sends with its own program; the receipt has the guid, or none", async () => {
  const { mac } = bench;
  await using account = await bench.run();
  const result = await sendText(ANNA);
  expect(result).toMatchObject({ channel: "imessage", messageId: sent()[0]!.guid, chatId: ANNA });
  mac.features.ids = false;
  expect(await sendText(ANNA, "two", { nonce: "n1" })).toMatchObject({ messageId: "n1" });
  expect(mac.started).toHaveLength(1);
  expect(account.events).toEqual([]);
});

test("an answer refers to a message where imsg can, and is sent all the same where it cannot", async () => {
  const { mac, direct } = bench;
  const row = mac.say(ANNA, direct, "?");
  await sendText(ANNA, "one", { replyToId: row.guid });
  mac.features.bridge = false;
  await sendText(ANNA, "two", { replyToId: row.guid });
  expect(sent().map(({ text, replyTo }) => [text, replyTo])).toEqual([
    ["one", row.guid],
    ["two", undefined],
  ]);
  expect(requests()).toHaveLength(3);
});

test("entries are resolved: addresses as they are, names among the recent chats", async () => {
  const { mac, channel, group } = bench;
  const runtime = { log: () => {}, error: () => {}, exit: () => {} };
  const resolve = (kind: "user" | "group", ...inputs: string[]) => channel.resolver!.resolveTargets({ cfg: bench.cfg(), runtime, kind, inputs });
  expect(await resolve("user", ANNA, "Ada@Example.org")).toMatchObject([
    { resolved: true, id: ANNA },
    { resolved: true, id: "ada@example.org" },
  ]);
  expect(mac.asked, "the Mac is asked for names only").toEqual([]);
  expect(await resolve("group", "workshop", "chat_id:7", "nowhere")).toMatchObject([
    { resolved: true, id: `chat_id:${group.id}`, name: "workshop" },
    { resolved: true, id: "chat_id:7" },
    { resolved: false },
  ]);
});

test("a failure says what became of the message", async () => {
  const { mac } = bench;
  await using account = await bench.run();
  const failing = async (outcome: (typeof mac.faults)[number]["outcome"], applied = false) => {
    mac.faults.push({ on: "send", outcome, applied });
    return sendText(ANNA).then(
      () => undefined,
      (error: unknown) => error,
    );
  };
  const state = (name: string) => ({ delivery: { state: name } });
  expect(await failing(invalid("invalid service"))).toMatchObject(state("failed"));
  expect(await failing(internal("AppleScript error: -1728 can't get buddy"))).toMatchObject(state("failed"));
  expect(await failing(internal("Not authorized to send Apple events to Messages (-1743)"))).toMatchObject({
    ...state("failed"),
    message: expect.stringContaining("Automation") as string,
  });
  expect(await failing(internal("connection is invalid"))).toMatchObject(state("retry"));
  expect(await failing(internal("AppleEvent timed out (-1712)"), true)).toMatchObject(state("unknown"));
  expect(await failing("garbage", true)).toMatchObject(state("unknown"));
  expect(await failing("exit", true)).toMatchObject(state("unknown"));
  await expect(sendText("chat_id:99")).rejects.toMatchObject({
    delivery: { state: "failed" },
    message: expect.stringContaining("unknown chat_id 99") as string,
  });
  await expect(sendText("nobody")).rejects.toMatchObject(state("failed"));
  await account.stop();
  await expect(sendText(ANNA, "x", {}, { cliPath: `${mac.folder}/nothing` })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(sendText(ANNA, "x", {}, { remoteHost: "-oProxyCommand=x" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});

test("a message that may have arrived is looked up before it is sent again, and not where another one says the same", async () => {
  const { mac, direct, group } = bench;
  const old = mac.say(ANNA, direct, "earlier");
  await sendText(ANNA, "the answer");
  const asked = mac.say(ANNA, direct, "now");
  const again = (to: string, answersId: string) => sendText(to, "(repeat?) the answer", { isRepeat: true, answersId });
  mac.faults.push({ on: "send", outcome: "exit", applied: true });
  await expect(sendText(ANNA, "the answer")).rejects.toMatchObject({ delivery: { state: "unknown" } });
  expect(sent()).toHaveLength(2);
  expect(await again(ANNA, asked.guid)).toMatchObject({ messageId: sent()[1]!.guid });
  expect(sent()).toHaveLength(2);
  // That one has its receipt now, and the one before it had it always.
  await again(ANNA, asked.guid);
  await again(ANNA, old.guid);
  await again(ANNA, "UNKNOWN");
  await again(`chat_id:${group.id}`, asked.guid);
  expect(sent().map(({ text }) => text)).toEqual(["the answer", "the answer", ...Array.from({ length: 4 }, () => "(repeat?) the answer")]);
});

test("a message that imsg is silent about may have arrived", async () => {
  await using silent = await openBench({ sendTimeoutMs: 200 });
  silent.mac.faults.push({ on: "send", outcome: "silent" });
  await expect(silent.channel.outbound!.sendText!({ cfg: silent.cfg(), to: ANNA, text: "hi" })).rejects.toMatchObject({ delivery: { state: "unknown" } });
});

test("a text of 10 MB goes out in one piece where it is not cut before", async () => {
  await sendText(ANNA, "y".repeat(10 * 1024 * 1024));
  expect(sent()[0]!.text).toHaveLength(10 * 1024 * 1024);
});

test("tables become blocks of code, or what the configuration says", async () => {
  const table = "| a | b |\n| --- | --- |\n| 1 | 2 |";
  await sendText(ANNA, table);
  await sendText(ANNA, table, {}, { markdown: { tables: "bullets" } });
  expect(sent()[0]!.text).toContain("```");
  expect(sent()[1]!.text).not.toContain("|");
});

test("a file is sent under its own name, and nothing of it stays behind", async () => {
  const folder = mkdtempSync(join(tmpdir(), "out-"));
  writeFileSync(join(folder, "chart 1.png"), Buffer.from("89504e470d0a1a0a", "hex"));
  try {
    const file = (mediaUrl: string, more = {}) =>
      bench.channel.outbound!.sendMedia!({ cfg: bench.cfg(), to: ANNA, text: "see", mediaUrl, mediaLocalRoots: [folder], ...more });
    await file(join(folder, "chart 1.png"));
    expect(sent().map(({ text, file: data }) => [text, data?.name, data?.data.toString("hex")])).toEqual([
      ["see", undefined, undefined],
      ["\uFFFC", "chart 1.png", "89504e470d0a1a0a"],
    ]);
    await expect(file("/etc/passwd")).rejects.toMatchObject({ delivery: { state: "failed" } });
    expect(requests()).toHaveLength(1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("typing is shown where imsg can, and not asked for again where it cannot", async () => {
  const { mac, channel } = bench;
  await using account = await bench.run();
  const type = (to: string) => channel.typing!.start({ cfg: bench.cfg(), accountId: "default", to, signal: new AbortController().signal });
  const asked = () => mac.asked.filter(({ method }) => method === "typing").map(({ params }) => params);
  await type(ANNA);
  await channel.typing!.stop!({ cfg: bench.cfg(), accountId: "default", to: ANNA });
  expect(asked()).toEqual([
    { to: ANNA, typing: true },
    { to: ANNA, typing: false },
  ]);
  mac.features.bridge = false;
  await type(ANNA);
  await type(ANNA);
  expect(asked()).toHaveLength(3);
  expect(account.status.connected).toBe(true);
});

test("what imsg does not offer is refused by name", async () => {
  const { actions } = bench.channel;
  expect(actions!.listActions!({ cfg: bench.cfg() })).toEqual([]);
  for (const action of ["react", "edit", "delete", "poll"] as const) {
    await expect(actions!.handleAction!({ channel: "imessage", action, cfg: bench.cfg(), params: { messageId: "x" } })).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining(`iMessage has no action "${action}"; available: send`) as string,
    });
  }
});
