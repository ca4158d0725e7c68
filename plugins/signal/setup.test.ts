import { afterEach, beforeEach, expect, test } from "vitest";
import { openBench, type Bench } from "./testing.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

test("`channels add` writes the number and where signal-cli is, and says what is missing or wrong", () => {
  const { setup, config } = bench.channel;
  const at = { cfg: {}, accountId: "default" };
  expect(setup!.validateInput!({ ...at, input: {} })).toContain("--signal-number");
  expect(setup!.validateInput!({ ...at, input: { signalNumber: "anna" } })).toContain("country code");
  expect(setup!.validateInput!({ ...at, input: { signalNumber: "+491701234567", httpUrl: "localhost" } })).toContain(
    "expected a URL such as http://127.0.0.1:8080",
  );
  expect(setup!.validateInput!({ ...at, input: { signalNumber: "+491701234567", cliPath: "/nonexistent" } })).toContain(
    "no executable program at /nonexistent",
  );
  expect(setup!.validateInput!({ ...at, input: { signalNumber: "+491701234567", cliPath: "/tmp" } }), "a folder").toContain("no executable program at /tmp");
  expect(setup!.validateInput!({ ...at, input: { signalNumber: "+491701234567", cliPath: process.execPath } })).toBeNull();
  expect(setup!.validateInput!({ ...at, input: { signalNumber: "+491701234567" } })).toBeNull();
  const cfg = setup!.applyAccountConfig({ ...at, input: { signalNumber: "+491701234567", cliPath: "/opt/signal-cli", httpPort: "9000" } });
  expect(cfg).toMatchObject({ channels: { signal: { enabled: true, account: "+491701234567", cliPath: "/opt/signal-cli", httpPort: 9000 } } });
  expect(config.resolveAccount(cfg)).toMatchObject({ number: "+491701234567", baseUrl: "http://127.0.0.1:9000", program: { cliPath: "/opt/signal-cli" } });
  const two = setup!.applyAccountConfig({ cfg, accountId: "work", input: { signalNumber: "+4930123456", httpUrl: "http://10.0.0.2:8080/" } });
  expect(config.listAccountIds(two)).toContain("work");
  expect(config.resolveAccount(two, "work")).toMatchObject({ number: "+4930123456", baseUrl: "http://10.0.0.2:8080", program: undefined });
});

test("the address alone is enough where the daemon has one account; where it listens and what starts it follow the keys", () => {
  const { config } = bench.channel;
  const read = (signal: object) => config.resolveAccount({ channels: { signal } } as Parameters<typeof config.resolveAccount>[0]);
  expect(config.listAccountIds({ channels: { signal: { httpUrl: "http://127.0.0.1:1" } } })).toEqual(["default"]);
  expect(read({ httpUrl: "http://127.0.0.1:1" })).toMatchObject({ problems: [], number: "", program: undefined });
  expect(read({ account: "+49 170 1234567", httpHost: "::1" })).toMatchObject({ number: "+491701234567", baseUrl: "http://[::1]:8080" });
  expect(read({ account: "+491701234567", autoStart: false }).program).toBeUndefined();
  const started = read({ account: "+491701234567", httpUrl: "http://localhost:7000", autoStart: true, receiveMode: "manual", startupTimeoutMs: 999_999 });
  expect(started.program).toMatchObject({ startupMs: 120_000, cliPath: "signal-cli" });
  expect(started.program!.args.join(" ")).toContain("--http localhost:7000 --no-receive-stdout --receive-mode manual");
});

test("onboarding asks for the number and the address, checks them, and says who the bot is", async () => {
  const notes: string[] = [];
  const answers = [bench.signal.world.me.number!, bench.signal.url];
  const prompter = {
    note: async (text: string) => void notes.push(text),
    text: async ({ validate }: { validate?: (value: string) => string | undefined }) => {
      expect(validate?.(answers[0]!)).toBeUndefined();
      return answers.shift()!;
    },
    confirm: async () => true,
  };
  const context = { cfg: {}, prompter, runtime: {}, accountOverrides: {}, shouldPromptAccountIds: false, forceAllowFrom: false };
  const { cfg } = await bench.channel.onboarding!.configure(context as unknown as Parameters<NonNullable<Bench["channel"]["onboarding"]>["configure"]>[0]);
  expect(cfg).toMatchObject({ channels: { signal: { account: bench.signal.world.me.number, httpUrl: bench.signal.url } } });
  expect(notes.at(-1)).toBe(`It works: connected as ${bench.signal.world.me.number}.`);
});

test("a probe says who the bot is or that signal-cli does not have it; warnings name what is open", async () => {
  const { status, config, security } = bench.channel;
  const probe = (more = {}) => status!.probeAccount!({ account: config.resolveAccount(bench.cfg(more)), cfg: bench.cfg(more), timeoutMs: 5000 });
  expect(await probe()).toMatchObject({ ok: true, bot: { number: bench.signal.world.me.number } });
  expect(await probe({ account: "+15559998888" })).toMatchObject({ ok: false, error: expect.stringContaining("does not have +15559998888") as string });
  const account = config.resolveAccount(bench.cfg({ allowFrom: ["anna", "*"], groupPolicy: "open", httpUrl: "http://signal.example.com:8080" }));
  const warnings = await security!.collectWarnings!({ account, cfg: bench.cfg() });
  expect(warnings.map((line) => /match nobody: anna|groupPolicy is "open"|another machine over http/.exec(line)?.[0])).toEqual([
    "match nobody: anna",
    'groupPolicy is "open"',
    "another machine over http",
  ]);
});

test("entries of allow lists are compared in their normal form", () => {
  const { config, pairing } = bench.channel;
  const entries = [
    "signal:+49 (170) 123-4567",
    "491701234567",
    "UUID:123E4567-E89B-12D3-A456-426614174000",
    "123e4567-e89b-12d3-a456-426614174000",
    "*",
    "Anna",
  ];
  expect(config.formatAllowFrom!({ cfg: {}, allowFrom: entries })).toEqual([
    "+491701234567",
    "+491701234567",
    "uuid:123e4567-e89b-12d3-a456-426614174000",
    "uuid:123e4567-e89b-12d3-a456-426614174000",
    "*",
    "anna",
  ]);
  expect(pairing!.idLabel).toBe("signalNumber");
});

test("who was let in is notified", async () => {
  await bench.channel.pairing!.notifyApproval!({ cfg: bench.cfg(), id: `uuid:${bench.zoe.uuid}`, runtime: { log: () => {}, error: () => {}, exit: () => {} } });
  expect(bench.signal.world.sent(bench.zoe.uuid)).toHaveLength(1);
});

test("rules of groups hold for their exact id", () => {
  const { groups } = bench.channel;
  const { id } = bench.group;
  const cfg = bench.cfg({ groups: { [id]: { requireMention: false, tools: { deny: ["exec"] } }, "*": { requireMention: true } } });
  expect(groups!.resolveRequireMention!({ cfg, groupId: id })).toBe(false);
  expect(groups!.resolveRequireMention!({ cfg, groupId: `${id.slice(0, -2)}x=` })).toBe(true);
  expect(groups!.resolveToolPolicy!({ cfg, groupId: id })).toEqual({ deny: ["exec"] });
});
