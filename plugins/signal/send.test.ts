import { afterEach, beforeEach, expect, test } from "vitest";
import { openBench, type Bench } from "./testing.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

const sendFrom = (from: Bench, text: string, more: Record<string, unknown> = {}, config = {}) =>
  from.channel.outbound!.sendText!({ cfg: from.cfg(config), to: from.anna.number!, text, ...more });
const send = (text: string, more: Record<string, unknown> = {}, config = {}) => sendFrom(bench, text, more, config);
const sent = (from: Bench = bench) => from.signal.world.sent(from.anna.uuid);
const act = (from: Bench, action: string, params: Record<string, unknown>, config = {}) =>
  from.channel.actions!.handleAction!({ channel: "signal", action: action as "react", cfg: from.cfg(config), params });

test.each(["native", "container"] as const)("styles become ranges, links their address and tables lists (%s)", async (form) => {
  await using other = await openBench({ form });
  await sendFrom(other, "# Title\n\n**bold** _it_ ~~no~~ `code` ||secret|| [here](https://example.com)");
  await sendFrom(other, "plain *");
  await sendFrom(other, "**loud** 5 * 3 | 2 ~ `");
  await sendFrom(other, "| a | b |\n| --- | --- |\n| 1 | 2 |");
  const [styled, plain, literal, table] = sent(other);
  expect(styled!.text).toBe("Title\n\nbold it no code secret here (https://example.com)");
  expect([...styled!.styles].toSorted()).toEqual(["0:5:BOLD", "12:2:ITALIC", "15:2:STRIKETHROUGH", "18:4:MONOSPACE", "23:6:SPOILER", "7:4:BOLD"].toSorted());
  expect([plain!.text, plain!.styles]).toEqual(["plain *", []]);
  // The container has no way to write these signs beside styles.
  expect([literal!.text, literal!.styles]).toEqual(["loud 5 * 3 | 2 ~ `", form === "native" ? ["0:4:BOLD"] : []]);
  expect(table!.text).not.toContain("|");
});

test.each(["native", "container"] as const)("people who are named by id in a group are mentioned, in private nobody is (%s)", async (form) => {
  await using other = await openBench({ form });
  const { signal, anna, zoe, group } = other;
  const text = `🎉 @${anna.number} and @uuid:${zoe.uuid}, mail@+491701234567`;
  await sendFrom(other, text, { to: `signal:group:${group.id}` });
  await sendFrom(other, text);
  expect(signal.world.sent(group.id)).toMatchObject([{ text, mentions: [`3:14:${anna.number}`, `22:42:${zoe.uuid}`] }]);
  expect(sent(other)[0]!.mentions).toEqual([]);
});

test.each(["native", "container"] as const)("an answer quotes its message where the author is known (%s)", async (form) => {
  await using other = await openBench({ form });
  const { signal, anna, zoe, group } = other;
  await using account = await other.run();
  const said = signal.world.say(zoe, "when?", { group });
  await account.event(({ text }) => text === "when?");
  const to = `group:${group.id}`;
  await sendFrom(other, "now", { to, replyToId: String(said.timestamp) });
  await sendFrom(other, "later", { to, replyToId: `1700000000000:uuid:${zoe.uuid}` });
  await sendFrom(other, "never", { to, replyToId: "1700000000001" });
  await sendFrom(other, "direct", { replyToId: "1700000000002" });
  await sendFrom(other, "nonsense", { replyToId: "x" });
  expect(signal.world.sent(group.id).map(({ quote }) => quote)).toEqual([
    { timestamp: said.timestamp, author: zoe.uuid, message: "when?" },
    { timestamp: 1_700_000_000_000, author: zoe.uuid, message: "" },
    undefined,
  ]);
  expect(sent(other).map(({ quote }) => quote)).toEqual([{ timestamp: 1_700_000_000_002, author: anna.number, message: "" }, undefined]);
});

test("targets are numbers, uuids, groups and usernames in all their spellings", async () => {
  const { channel, anna, group } = bench;
  const normal = (raw: string) => channel.messaging!.normalizeTarget!(raw);
  expect(
    ["signal:+49 170 1234567", "491701234567", `signal:uuid:${anna.uuid.toUpperCase()}`, anna.uuid, `signal:group:${group.id}`, "u:Anna.01"].map(normal),
  ).toEqual(["+491701234567", "+491701234567", `uuid:${anna.uuid}`, `uuid:${anna.uuid}`, `group:${group.id}`, "username:anna.01"]);
  expect(["", "anna", "group:", "uuid:x", "+12", "username:anna", "group:../x"].map(normal)).toEqual(Array.from({ length: 7 }, () => undefined));
  await send("by uuid", { to: `uuid:${anna.uuid}` });
  expect(sent().map(({ text }) => text)).toEqual(["by uuid"]);
  await expect(send("x", { to: "somewhere" })).rejects.toThrow('"somewhere" is not a Signal chat');
});

test.each([
  ["UNREGISTERED_FAILURE", { state: "failed" }],
  ["IDENTITY_FAILURE", { state: "failed" }],
  ["INVALID_PRE_KEY_FAILURE", { state: "failed" }],
  ["NETWORK_FAILURE", { state: "unknown" }],
  ["RATE_LIMIT_FAILURE", { state: "retry", retryAfterMs: 60_000 }],
  ["SOMETHING_NEW", { state: "unknown" }],
])("%s ends a message as %j", async (type, delivery) => {
  bench.signal.outcomes.next({ type });
  await expect(send("x")).rejects.toMatchObject({ delivery });
  expect(sent()).toEqual([]);
});

test("a 200 whose results are all failures is a failure; one success is enough", async () => {
  const answer = (types: readonly string[]) =>
    bench.signal.faults.add({
      on: /rpc send$/,
      status: 200,
      body: { jsonrpc: "2.0", id: 1, result: { timestamp: 1_700_000_000_000, results: types.map((type) => ({ type, retryAfterSeconds: 7 })) } },
    });
  answer(["UNREGISTERED_FAILURE", "RATE_LIMIT_FAILURE"]);
  await expect(send("x")).rejects.toMatchObject({ delivery: { state: "retry", retryAfterMs: 7000 }, status: 429 });
  answer(["UNREGISTERED_FAILURE", "SUCCESS"]);
  expect(await send("x")).toMatchObject({ messageId: "1700000000000" });
  answer([]);
  expect(await send("x")).toMatchObject({ messageId: "1700000000000" });
});

test.each([
  [-1, { state: "failed" }],
  [-2, { state: "unknown" }],
  [-3, { state: "unknown" }],
  [-4, { state: "failed" }],
  [-5, { state: "retry", retryAfterMs: 60_000 }],
  [-6, { state: "failed" }],
  [-32_600, { state: "failed" }],
  [-32_603, { state: "unknown" }],
])("error %d ends a message as %j", async (code, delivery) => {
  bench.signal.faults.add({ on: /rpc send$/, status: 200, body: { jsonrpc: "2.0", id: 1, error: { code, message: "no", data: null } } });
  await expect(send("x")).rejects.toMatchObject({ delivery });
});

test("whether a message may have arrived follows from how far its request got", async () => {
  const { signal } = bench;
  for (const fault of [{ reset: true, applied: true }, { status: 502 }, { garbage: true, applied: true }]) {
    signal.faults.add({ on: /rpc send$/, ...fault });
    await expect(send("x")).rejects.toMatchObject({ delivery: { state: "unknown" } });
  }
  expect(sent()).toHaveLength(2);
  await using away = await openBench();
  await away.signal.server.close();
  const check = () => away.channel.outbound!.checkSend!({ cfg: away.cfg(), accountId: "default", to: "", signal: AbortSignal.timeout(5000) });
  for (const apiMode of ["native", "container", "auto"])
    await expect(sendFrom(away, "x", {}, { apiMode })).rejects.toMatchObject({ delivery: { state: "retry" } });
  await expect(check()).rejects.toThrow("could not be reached");
  await away.signal.server.open();
  await check();
});

test("a group that the account was removed from and a chat that is gone fail for good", async () => {
  const { group, signal } = bench;
  await send("in", { to: `group:${group.id}` });
  group.members.delete(signal.world.me.uuid);
  await expect(send("out", { to: `group:${group.id}` })).rejects.toMatchObject({
    delivery: { state: "failed" },
    message: expect.stringContaining("Group not found") as string,
  });
  await expect(send("x", { to: "+4915550000000" })).rejects.toMatchObject({ delivery: { state: "failed" }, reason: "UNREGISTERED_FAILURE" });
});

test("a quotation that Signal refuses is left out", async () => {
  bench.signal.faults.add({ on: /rpc send$/, status: 200, body: { jsonrpc: "2.0", id: 1, error: { code: -1, message: "Invalid quote author" } } });
  await send("still", { replyToId: "1700000000002" });
  expect(sent()).toMatchObject([{ text: "still", quote: undefined }]);
});

test.each(["native", "container"] as const)("files go along, up to mediaMaxMb and from allowed folders only (%s)", async (form) => {
  await using other = await openBench({ form });
  const mediaUrl = new URL("openclaw.plugin.json", import.meta.url).pathname;
  const file = (more = {}, config = {}) =>
    other.channel.outbound!.sendMedia!({
      cfg: other.cfg(config),
      to: other.anna.number!,
      text: "see",
      mediaUrl,
      mediaLocalRoots: [new URL(".", import.meta.url).pathname],
      ...more,
    });
  await file();
  const [{ text, files }] = sent(other) as [ReturnType<typeof sent>[number]];
  expect([text, files.map(({ name, data }) => [name, JSON.parse(data.toString("utf8")).id])]).toEqual(["see", [["openclaw.plugin.json", "signal"]]]);
  await file({ mediaUrls: [mediaUrl, new URL("package.json", import.meta.url).pathname, "/etc/passwd"] });
  const album = sent(other).at(-1)!;
  expect([album.text, album.files.map(({ name }) => name)]).toEqual(["see\n\n[not sent: passwd could not be read]", ["openclaw.plugin.json", "package.json"]]);
  await expect(file({ mediaUrl: "/etc/passwd" })).rejects.toMatchObject({ delivery: { state: "failed" } });
  await expect(file({}, { mediaMaxMb: 0.0001 })).rejects.toMatchObject({
    delivery: { filesNotSent: [expect.stringMatching(/^openclaw\.plugin\.json is .* KB; channels\.signal\.mediaMaxMb allows /)] },
  });
});

test.each(["native", "container"] as const)("the message tool reacts, edits and takes back (%s)", async (form) => {
  await using other = await openBench({ form });
  const { signal, anna, zoe, group } = other;
  const { messageId } = await sendFrom(other, "frist");
  await act(other, "edit", { to: anna.number, messageId, message: "**first**" });
  expect(sent(other)).toMatchObject([{ text: "first", styles: ["0:5:BOLD"], edits: 1 }]);
  await act(other, "react", { to: anna.number, messageId: "1700000000001", emoji: "🔥" });
  await act(other, "react", { to: `signal:group:${group.id}`, messageId: "1700000000002", emoji: "✅", targetAuthorUuid: zoe.uuid });
  expect(signal.world.reactions()).toEqual([
    { chat: anna.uuid, emoji: "🔥", author: anna.uuid, timestamp: 1_700_000_000_001 },
    { chat: group.id, emoji: "✅", author: zoe.uuid, timestamp: 1_700_000_000_002 },
  ]);
  await act(other, "react", { to: anna.number, messageId: "1700000000001", emoji: "🔥", remove: true });
  await act(other, "react", { to: `group:${group.id}`, messageId: "1700000000002", emoji: "", targetAuthor: `uuid:${zoe.uuid}` });
  expect(signal.world.reactions()).toEqual([]);
  await act(other, "unsend", { to: anna.number, messageId });
  expect(sent(other)).toEqual([]);
  await expect(act(other, "delete", { to: anna.number, messageId })).rejects.toThrow("Failed to delete");
});

test("actions need an author, a message and their switch", async () => {
  const { anna, group } = bench;
  const react = (params: Record<string, unknown>, config = {}) =>
    act(bench, "react", { to: anna.number, messageId: "1700000000001", emoji: "👍", ...params }, config);
  await expect(react({ to: `group:${group.id}` })).rejects.toThrow("set targetAuthor");
  await expect(react({ targetAuthor: "anna" })).rejects.toThrow("targetAuthor is a number");
  await expect(react({ messageId: "yesterday" })).rejects.toThrow("is not a Signal message");
  await expect(react({}, { reactionLevel: "ack" })).rejects.toThrow("channels.signal.reactionLevel");
  await expect(react({}, { actions: { reactions: false } })).rejects.toThrow("channels.signal.actions.reactions");
  await expect(act(bench, "edit", { to: anna.number, messageId: "1700000000001" })).rejects.toThrow("set message");
  const { actions, agentPrompt } = bench.channel;
  expect(actions!.listActions!({ cfg: bench.cfg() })).toEqual(["react", "edit", "unsend", "delete"]);
  expect(actions!.listActions!({ cfg: bench.cfg({ actions: { unsend: false, reactions: false } }) })).toEqual(["edit"]);
  const level = (config: object) => agentPrompt!.reactionGuidance!({ cfg: bench.cfg({ ...config }) });
  expect([level({}), level({ reactionLevel: "extensive" }), level({ reactionLevel: "off" }), level({ actions: { reactions: false } })]).toEqual([
    { level: "minimal" },
    { level: "extensive" },
    undefined,
    undefined,
  ]);
});

test.each(["native", "container"] as const)("typing begins and stops, and what was seen is marked (%s)", async (form) => {
  await using other = await openBench({ form });
  const { channel, signal, anna, group } = other;
  const at = { cfg: other.cfg(), accountId: "default", signal: AbortSignal.timeout(5000) };
  await channel.typing!.start({ ...at, to: anna.number! });
  await channel.typing!.stop!({ ...at, to: `group:${group.id}` });
  expect(signal.typing).toEqual([
    { chat: anna.uuid, stop: false },
    { chat: group.id, stop: true },
  ]);
  const seen = { ...at, to: `group:${group.id}`, messageId: `1700000000002:${anna.number}` };
  await channel.reactions!.set({ ...seen, emoji: "👀" });
  expect(signal.world.reactions()).toMatchObject([{ chat: group.id, emoji: "👀", author: anna.uuid }]);
  await channel.reactions!.set({ ...seen, cfg: other.cfg({ reactionLevel: "off" }), emoji: "✅" });
  await channel.reactions!.set({ ...seen, emoji: "" });
  expect(signal.world.reactions()).toEqual([]);
});

test.each(["native", "container"] as const)("people and groups are found (%s)", async (form) => {
  await using other = await openBench({ form });
  const { channel, anna, zoe, group, signal } = other;
  const runtime = { log: () => {}, error: () => {}, exit: () => {} };
  const base = { cfg: other.cfg({ allowFrom: [anna.number!, "someone"], groups: { [group.id]: {}, "*": {} } }), runtime };
  expect(await channel.directory!.self!(base)).toEqual({ kind: "user", id: signal.world.me.number });
  expect(await channel.directory!.listPeers!(base)).toEqual([{ kind: "user", id: anna.number }]);
  expect(await channel.directory!.listGroups!(base)).toEqual([{ kind: "group", id: `group:${group.id}` }]);
  expect(await channel.directory!.listGroupsLive!({ ...base, query: "tea" })).toEqual([{ kind: "group", id: `group:${group.id}`, name: "Team" }]);
  expect((await channel.directory!.listGroupMembers!({ ...base, groupId: group.id })).map(({ id }) => id)).toContain(`uuid:${zoe.uuid}`);
  const resolve = (kind: "user" | "group", ...inputs: string[]) => channel.resolver!.resolveTargets({ ...base, inputs, kind });
  expect(await resolve("user", "+49 170 1234567", "anna")).toMatchObject([{ resolved: true, id: anna.number }, { resolved: false }]);
  expect(await resolve("group", "team", "elsewhere")).toMatchObject([{ resolved: true, id: group.id }, { resolved: false }]);
});
