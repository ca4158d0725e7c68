import { afterEach, beforeEach, expect, test } from "vitest";
import { type Bench, openBench } from "./testing.ts";
import { calledIn, verifyCommand } from "./commands.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

const REACHED = { interactions: { callbackBaseUrl: "https://claw.example.com/" } };
const STATUS = { name: "status", description: "How it is", acceptsArgs: false };
const MODEL = { name: "model", description: "Which model", acceptsArgs: true };
const register = (commands: readonly object[], config: object = REACHED) =>
  bench.channel.nativeCommands!.register({
    cfg: bench.cfg(config as Record<string, unknown>),
    accountId: "default",
    commands: commands as never,
    signal: AbortSignal.timeout(10_000),
  });
const triggers = (): string[] => [...bench.chat.commands.values()].map(({ trigger }) => trigger).toSorted();

test("commands are registered once under names that the server has not, changed and taken away; other people's stay", async () => {
  const { chat } = bench;
  await register([STATUS, MODEL, { ...STATUS, name: "no good name" }]);
  expect(triggers()).toEqual(["oc_model", "oc_status"]);
  const before = [...chat.commands.values()];
  expect(before[0]).toMatchObject({ url: "https://claw.example.com/mattermost/commands/default", creator_id: chat.bot.id });
  await register([STATUS, MODEL]);
  expect([...chat.commands.values()]).toEqual(before);
  const writes = () => chat.server.asked.filter(({ method, path }) => method !== "GET" && path.includes("/commands")).length;
  const written = writes();
  await register([{ ...STATUS, description: "Otherwise" }]);
  expect(writes() - written).toBe(2);
  expect([...chat.commands.values()]).toMatchObject([{ trigger: "oc_status", description: "Otherwise" }]);
});

test("without an address, or without the permission, it says what is missing", async () => {
  await register([], {});
  await expect(register([STATUS], {})).rejects.toThrow("callbackBaseUrl");
  bench.chat.forbidCommands();
  await expect(register([STATUS])).rejects.toThrow("not allowed to manage slash commands");
});

test("only a call with the token of that very command is believed", () => {
  const tokens = new Map([["oc_status", new Set(["tok-1", "tok-2"])]]);
  const form = (over: Record<string, string>) => {
    const fields = { command: "/oc_status", token: "tok-2", trigger_id: "t1", user_id: "u".repeat(26), channel_id: "c".repeat(26), text: "all", ...over };
    return { method: "POST", path: "/", headers: {}, query: new URLSearchParams(), body: Buffer.from(new URLSearchParams(fields).toString()) } as never;
  };
  expect(verifyCommand(form({}), tokens)).toMatchObject({ ok: true });
  for (const over of [{ token: "" }, { token: "tok-3" }, { command: "/oc_model" }, { command: "" }, { trigger_id: "" }])
    expect(verifyCommand(form(over), tokens), JSON.stringify(over)).toMatchObject({ ok: false });
  expect(verifyCommand(form({}), new Map())).toMatchObject({ ok: false });
  expect(calledIn(form({}))).toMatchObject({ text: "/status all", rootId: undefined });
  expect(calledIn(form({ user_id: "../x" }))).toBeUndefined();
});
