import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ANNA, openBench, type Bench } from "./testing.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

test("`channels add` needs nothing, takes program, database, service and region, and says what is wrong", () => {
  const { setup, config } = bench.channel;
  const at = { cfg: {}, accountId: "default" };
  expect(setup!.validateInput!({ ...at, input: {} })).toBeNull();
  expect(setup!.validateInput!({ ...at, input: { cliPath: "imsg; rm -rf /" } })).toContain("is not a program");
  expect(setup!.validateInput!({ ...at, input: { cliPath: "/nonexistent" } })).toContain("no executable program at /nonexistent");
  const saved = { cfg: { channels: { imessage: { cliPath: "/nonexistent" } } }, accountId: "default" };
  expect(setup!.validateInput!({ ...saved, input: { region: "DE" } }), "what is there already is the doctor's").toBeNull();
  expect(setup!.validateInput!({ ...at, input: { region: "Germany" } })).toContain("two letters such as US");
  const cfg = setup!.applyAccountConfig({ ...at, input: { cliPath: "/opt/imsg", dbPath: "/d/chat.db", service: "sms", region: "de" } });
  expect(cfg).toMatchObject({ channels: { imessage: { enabled: true, cliPath: "/opt/imsg", dbPath: "/d/chat.db", service: "sms", region: "DE" } } });
  expect(config.resolveAccount(cfg)).toMatchObject({ cliPath: "/opt/imsg", service: "sms", region: "DE", includeAttachments: false, problems: [] });
  const two = setup!.applyAccountConfig({ cfg, accountId: "work", input: { cliPath: "/opt/work/imsg" } });
  expect(config.listAccountIds(two)).toContain("work");
  expect(config.resolveAccount(two, "work")).toMatchObject({ cliPath: "/opt/work/imsg", dbPath: "/d/chat.db" });
});

test("what cannot work is named before anything is started", () => {
  const problems = (keys: Record<string, unknown>) => bench.channel.config.resolveAccount({ channels: { imessage: keys } }).problems;
  expect(bench.channel.config.resolveAccount({})).toMatchObject({ cliPath: "imsg", service: "auto", region: "US" });
  expect(bench.channel.config.resolveAccount({}).problems).toHaveLength(1);
  expect(problems({ enabled: true })).toEqual([]);
  const wrong: [Record<string, unknown>, RegExp][] = [
    [{ cliPath: "-x" }, /cliPath/],
    [{ cliPath: "a b" }, /cliPath/],
    [{ remoteHost: "user@" }, /remoteHost/],
    [{ remoteHost: "-oProxyCommand=x" }, /remoteHost/],
    [{ attachmentRoots: ["relative"] }, /attachmentRoots/],
    [{ remoteAttachmentRoots: ["/a/b*"] }, /attachmentRoots/],
    [{ attachmentRoots: ["/a/../b"] }, /attachmentRoots/],
    [{ service: "fax" }, /service/],
    [{ region: "USA" }, /region/],
  ];
  for (const [keys, text] of wrong) expect(problems(keys)).toEqual([expect.stringMatching(text)]);
  for (const remoteHost of ["mac.local", "bot@192.168.1.7", "studio"]) expect(problems({ remoteHost })).toEqual([]);
});

test("onboarding asks for the program and checks it", async () => {
  const notes: string[] = [];
  const prompter = { note: async (text: string) => void notes.push(text), text: async () => bench.mac.cliPath, confirm: async () => true };
  const context = { cfg: bench.cfg({ cliPath: undefined }), prompter, runtime: {}, accountOverrides: {}, shouldPromptAccountIds: false, forceAllowFrom: false };
  const { cfg } = await bench.channel.onboarding!.configure(context as unknown as Parameters<NonNullable<Bench["channel"]["onboarding"]>["configure"]>[0]);
  expect(cfg).toMatchObject({ channels: { imessage: { cliPath: bench.mac.cliPath } } });
  expect(notes.at(-1)).toBe("It works.");
});

test("a probe asks imsg, and says what is wrong", async () => {
  const { status, config, mac } = { ...bench.channel, mac: bench.mac };
  const probe = (more = {}) => status!.probeAccount!({ account: config.resolveAccount(bench.cfg(more)), cfg: bench.cfg(more), timeoutMs: 5000 });
  expect(await probe()).toMatchObject({ ok: true });
  expect(await probe({ dbPath: join(mac.folder, "denied.db") })).toMatchObject({ ok: false, error: expect.stringContaining("Full Disk Access") as string });
  expect(await probe({ cliPath: `${mac.folder}/nothing` })).toMatchObject({ ok: false, error: expect.stringContaining("not installed") as string });
  const script = (name: string, text: string): string => {
    writeFileSync(join(mac.folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    return join(mac.folder, name);
  };
  const failing = async (text: string): Promise<unknown> => (await probe({ cliPath: script(`s${text.length}`, text) })).error;
  expect(await failing("echo 'error: unknown command rpc' >&2; exit 64")).toContain("Update imsg");
  expect(await failing("echo 'bot@mac: Permission denied (publickey).' >&2; exit 255")).toContain("cannot sign in");
  expect(await failing("echo 'Host key verification failed.' >&2; exit 255")).toContain("cannot sign in");
  expect(await failing("exit 7")).toMatch(/imsg/);
  expect(mac.running()).toBe(0);
});

test("lists take numbers, addresses and chats; names match nobody, and folders that hold everything are warned about", async () => {
  const { security, config, pairing } = bench.channel;
  const normal = pairing!.normalizeAllowEntry!;
  expect(["+49 170 1234567", "iMessage:Anna@X.org", "CHAT_ID:7", "4915112345678"].map(normal)).toEqual([ANNA, "anna@x.org", "chat_id:7", "+4915112345678"]);
  const cfg = bench.cfg({ allowFrom: ["anna", ANNA, "chat_id:7"], groupPolicy: "open", attachmentRoots: ["/"] });
  const warnings = await security!.collectWarnings!({ account: config.resolveAccount(cfg), cfg });
  expect(warnings.map((line) => /match nobody: anna\.|groupPolicy is "open"|top-level folder/.exec(line)?.[0])).toEqual([
    "match nobody: anna.",
    'groupPolicy is "open"',
    "top-level folder",
  ]);
});

test("people and groups are found in the chats that were written in last", async () => {
  const { channel, group, direct, mac } = bench;
  mac.say(ANNA, direct, "hi");
  const base = { cfg: bench.cfg({ allowFrom: [ANNA, "chat_id:7"], groups: { 12: {}, "*": {} } }), runtime: { log: () => {}, error: () => {}, exit: () => {} } };
  const { directory } = channel;
  expect(await directory!.listPeersLive!(base)).toEqual([{ kind: "user", id: ANNA }]);
  expect(await directory!.listGroupsLive!({ ...base, query: "work" })).toEqual([
    { kind: "group", id: `chat_id:${group.id}`, name: "Workshop", handle: group.identifier },
  ]);
  for (const groupId of [String(group.id), `chat_guid:${group.guid}`, `chat_identifier:${group.identifier}`])
    expect((await directory!.listGroupMembers!({ ...base, groupId })).map(({ id }) => id)).toEqual([ANNA, "bob@example.org"]);
  await expect(directory!.listGroupMembers!({ ...base, groupId: "chat_id:77" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await directory!.listPeers!(base)).toEqual([{ kind: "user", id: ANNA }]);
  expect(await directory!.listGroups!(base)).toEqual([{ kind: "group", id: "chat_id:12" }]);
});

test("the schema takes what can work and refuses the rest", () => {
  const { channelConfigs } = JSON.parse(readFileSync(new URL("openclaw.plugin.json", import.meta.url), "utf8")) as {
    channelConfigs: { imessage: { schema: { properties: Record<string, { pattern?: string; items?: { pattern: string } }> } } };
  };
  const { cliPath, remoteHost, attachmentRoots, remoteAttachmentRoots } = channelConfigs.imessage.schema.properties;
  const takes = (pattern: string | undefined, text: string): boolean => new RegExp(pattern!, "u").test(text);
  for (const text of ["imsg", "/opt/homebrew/bin/imsg", "~/bin/imsg mac"]) expect(takes(cliPath?.pattern, text), text).toBe(true);
  for (const text of ["", "-x", "imsg; reboot", "$(x)", "a|b", "`a`", String.raw`a\b`]) expect(takes(cliPath?.pattern, text), text).toBe(false);
  for (const text of ["mac", "bot@mac.local", "10.0.0.7"]) expect(takes(remoteHost?.pattern, text), text).toBe(true);
  for (const text of ["", "-oX", "a b", "bot@", "a;b", "a:b"]) expect(takes(remoteHost?.pattern, text), text).toBe(false);
  for (const { items } of [attachmentRoots!, remoteAttachmentRoots!]) {
    for (const text of ["/a", "/Users/*/Library/Messages/Attachments", "/a/"]) expect(takes(items?.pattern, text), text).toBe(true);
    for (const text of ["", "a", "/a*", "/a/b*/c"]) expect(takes(items?.pattern, text), text).toBe(false);
  }
});
