import { expect, test } from "vitest";
import { type FakeTelegram, startTelegram } from "../../../test/fakes/telegram/index.ts";
import { createTelegramPlugin, type TelegramPluginOptions } from "../channel.ts";
import { runAccount, type RunningAccount, type RunOptions } from "../testing.ts";

/** The plugin's state, for the processes of one test. */
function memoryState(): TelegramPluginOptions["runtime"] {
  const values = new Map<string, { readonly key: string; readonly value: unknown; readonly createdAt: number }>();
  const openKeyedStore = ({ namespace }: { readonly namespace: string }) => ({
    register: async (key: string, value: unknown) => void values.set(`${namespace}/${key}`, { key, value: structuredClone(value), createdAt: values.size }),
    lookup: async (key: string) => values.get(`${namespace}/${key}`)?.value,
    delete: async (key: string) => values.delete(`${namespace}/${key}`),
    entries: async () => [...values].flatMap(([place, entry]) => (place.startsWith(`${namespace}/`) ? [entry] : [])),
  });
  return { state: { openKeyedStore } } as unknown as TelegramPluginOptions["runtime"];
}

const start = async (telegram: FakeTelegram, more: Partial<RunOptions> = {}): Promise<RunningAccount> => {
  const run = runAccount({ token: telegram.token, apiRoot: telegram.apiRoot, ...more });
  await run.shows(({ connected }) => connected === true);
  return run;
};
const cfgOf = (telegram: FakeTelegram, more: object = {}) => ({ channels: { telegram: { botToken: telegram.token, ...more } } });
const votes = ({ events }: RunningAccount): string[] => events.filter(({ kind }) => kind === "notice").map(({ text }) => text);

test("votes in polls that show them are notices in their chat, also after a restart; those in other polls are none", async () => {
  await using telegram = await startTelegram();
  const runtime = memoryState();
  const group = telegram.group().id;
  const poll = { question: "Tea?", options: ["yes", "no", "later"], maxSelections: 2 };
  let messageId = 0;
  {
    await using run = await start(telegram, { runtime });
    const send = (isAnonymous: boolean | undefined) =>
      run.channel.outbound!.sendPoll!({ cfg: cfgOf(telegram), to: String(group), poll, ...(isAnonymous === undefined ? {} : { isAnonymous }) });
    messageId = Number((await send(false)).messageId);
    expect(telegram.vote({ chatId: group, messageId: Number((await send(undefined)).messageId) }, [0]).updateId, "an anonymous one").toBeUndefined();
    telegram.vote({ chatId: group, messageId }, [0, 2]);
    await expect.poll(() => votes(run)).toEqual(['Telegram: Grace voted "yes", "later" in the poll "Tea?"']);
    expect(run.events[0]).toMatchObject({ chat: { type: "group", id: String(group) }, to: `telegram:${group}`, sender: { id: String(telegram.me.id) } });
  }
  {
    await using again = await start(telegram, { runtime });
    telegram.vote({ chatId: group, messageId }, []);
    await expect.poll(() => votes(again)).toEqual(['Telegram: Grace withdrew the vote in the poll "Tea?"']);
  }
  await using without = await start(telegram);
  telegram.vote({ chatId: group, messageId }, [1]);
  telegram.say("behind it");
  await without.event(({ text }) => text === "behind it");
  expect(votes(without)).toEqual([]);
});

test("chats that wrote are listed and found by name, also by another process; public groups are asked for; strangers are neither", async () => {
  await using telegram = await startTelegram();
  const runtime = memoryState();
  const mallory = telegram.person({ first_name: "Mallory", username: "mallory" });
  telegram.direct(mallory);
  const group = telegram.group({ title: "Workshop" }).id;
  const accept: RunOptions["accept"] = async ({ sender }) => (sender.id === String(mallory.id) ? { outcome: "refused", why: "not on the list" } : undefined);
  const cfg = cfgOf(telegram, { groups: { "-100200300": {} } });
  {
    await using run = await start(telegram, { runtime, accept });
    telegram.say("let me in", { from: mallory });
    telegram.say(`@${telegram.bot.username} hello`, { chat: group });
    await run.event(({ chat }) => chat.id === String(group));
  }
  using plugin = createTelegramPlugin({ apiRoot: telegram.apiRoot, runtime });
  const io = { log: () => {}, error: () => {}, exit: () => {} };
  const asked = { cfg, runtime: io };
  expect(await plugin.directory!.listPeersLive!(asked)).toEqual([
    { kind: "user", id: String(telegram.me.id), name: "Grace", handle: `@${telegram.me.username}` },
  ]);
  expect((await plugin.directory!.listGroupsLive!(asked)).map(({ id, name }) => [id, name])).toEqual([
    [String(group), "Workshop"],
    ["-100200300", undefined],
  ]);
  const resolve = (kind: "user" | "group", ...inputs: string[]) => plugin.resolver!.resolveTargets({ ...asked, kind, inputs });
  expect(await resolve("user", `@${telegram.me.username}`, "tg:123", "@mallory")).toMatchObject([
    { resolved: true, id: String(telegram.me.id) },
    { resolved: true, id: "123" },
    { resolved: false, note: expect.stringContaining("by their id only") as string },
  ]);
  expect(await resolve("group", "workshop", "@nowhere_at_all")).toMatchObject([{ resolved: true, id: String(group), name: "Workshop" }, { resolved: false }]);
});

test("stickers that people sent are found by emoji and set, except those of people who were refused", async () => {
  await using telegram = await startTelegram();
  const runtime = memoryState();
  const config = { actions: { sticker: true } };
  const mallory = telegram.person({ first_name: "Mallory" });
  telegram.direct(mallory);
  const accept: RunOptions["accept"] = async ({ sender }) => (sender.id === String(mallory.id) ? { outcome: "refused", why: "not on the list" } : undefined);
  await using run = await start(telegram, { runtime, config, accept });
  const sticker = (emoji: string, setName: string) => ({ sticker: { file_id: `f-${setName}`, file_unique_id: `u-${setName}`, emoji, set_name: setName } });
  telegram.say("", { fields: sticker("🦞", "ClawPack") });
  telegram.say("", { from: mallory, fields: sticker("🦞", "ObeyPack") });
  telegram.say("", { fields: sticker("🐱", "CatPack") });
  await run.event(({ context }) => JSON.stringify(context?.["Sticker"] ?? "").includes("CatPack"));
  const search = async (query: string) => {
    const result = await run.channel.actions!.handleAction!({ channel: "telegram", action: "sticker-search", cfg: cfgOf(telegram, config), params: { query } });
    return (result.details as { stickers: { setName: string }[] }).stickers.map(({ setName }) => setName);
  };
  expect([await search("🦞"), await search("pack"), await search("obey")]).toEqual([["ClawPack"], ["CatPack", "ClawPack"], []]);
});
