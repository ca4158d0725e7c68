import { afterEach, beforeEach, expect, test } from "vitest";
import { openBench, type Bench } from "./testing.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

test("`channels add` writes the token and the address, and says what is missing or wrong", () => {
  const { setup, config } = bench.channel;
  const at = { cfg: {}, accountId: "default" };
  expect(setup!.validateInput!({ ...at, input: { botToken: "t" } })).toContain("--http-url");
  expect(setup!.validateInput!({ ...at, input: { botToken: "t", httpUrl: "chat.example.com" } })).toContain("expected a URL such as https://chat.example.com");
  const cfg = setup!.applyAccountConfig({ ...at, input: { botToken: "t", httpUrl: "https://chat.example.com/" } });
  expect(cfg).toMatchObject({ channels: { mattermost: { enabled: true, botToken: "t", baseUrl: "https://chat.example.com/" } } });
  expect(config.resolveAccount(cfg)).toMatchObject({ token: "t", baseUrl: "https://chat.example.com", problems: [] });
  const two = setup!.applyAccountConfig({ cfg, accountId: "work", input: { botToken: "t2", httpUrl: "https://work.example.com" } });
  expect(config.listAccountIds(two)).toContain("work");
  expect(config.resolveAccount(two, "work")).toMatchObject({ token: "t2", baseUrl: "https://work.example.com", callbackPath: "/mattermost/interactions/work" });
});

test("onboarding asks for both, checks them against the server, and says who the bot is", async () => {
  const notes: string[] = [];
  const answers = [bench.chat.token, bench.chat.url];
  const prompter = {
    note: async (text: string) => void notes.push(text),
    text: async ({ validate }: { validate?: (value: string) => string | undefined }) => {
      expect([validate?.(""), validate?.(answers[0]!)]).toEqual(["Required", undefined]);
      return answers.shift()!;
    },
    confirm: async () => true,
  };
  const context = { cfg: {}, prompter, runtime: {}, accountOverrides: {}, shouldPromptAccountIds: false, forceAllowFrom: false };
  const { cfg } = await bench.channel.onboarding!.configure(context as unknown as Parameters<NonNullable<Bench["channel"]["onboarding"]>["configure"]>[0]);
  expect(cfg).toMatchObject({ channels: { mattermost: { botToken: bench.chat.token, baseUrl: bench.chat.url } } });
  expect(notes.at(-1)).toBe("It works: connected as @clawbot.");
});

test("a probe says who the bot is, or what is wrong, without the token", async () => {
  const { status, config, security } = bench.channel;
  const probe = (more = {}) => status!.probeAccount!({ account: config.resolveAccount(bench.cfg(more)), cfg: bench.cfg(more), timeoutMs: 1000 });
  expect(await probe()).toMatchObject({ ok: true, bot: { username: "clawbot" } });
  const refused = await probe({ botToken: "wrong-token-of-a-test" });
  expect(refused).toMatchObject({ ok: false, status: 401 });
  expect(JSON.stringify(refused)).not.toContain("wrong-token-of-a-test");
  const account = config.resolveAccount(bench.cfg({ allowFrom: ["anna"], groupPolicy: "open", baseUrl: "http://chat.example.com" }));
  const warnings = await security!.collectWarnings!({ account, cfg: bench.cfg() });
  expect(warnings.map((line) => /match nobody: anna|groupPolicy is "open"|baseUrl is http/.exec(line)?.[0])).toEqual([
    "match nobody: anna",
    'groupPolicy is "open"',
    "baseUrl is http",
  ]);
});

test("a proxy that drops the header does not keep the account out: the challenge signs in", async () => {
  const { chat, anna, direct } = bench;
  chat.ignoreSocketHeaders();
  await using account = await bench.run();
  chat.say(anna, direct, "one");
  await account.event(({ text }) => text === "one");
  chat.server.drop();
  chat.say(anna, direct, "two");
  await account.event(({ text }) => text === "two");
  expect([chat.begun, chat.resumed]).toEqual([2, 0]);
});
