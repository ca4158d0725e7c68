import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startTelegram } from "../fakes/telegram/index.ts";
import { openChannelPlace, saidBy } from "./channel-place.ts";

const TIMEOUT = { timeout: 90_000 };
const MB = 1024 * 1024;
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

/** A model that keeps what it heard and says the same to everything. */
function listener(answer = "heard") {
  const heard: string[] = [];
  return {
    heard,
    says(text: string): string {
      heard.push(text);
      return answer;
    },
  };
}

test("a text of 4 MB is cut at a million characters, the model is notified, and it is answered once", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  const { heard, says } = listener();
  await using place = await openChannelPlace(telegram, { says });
  const { chatId } = telegram.say("ä".repeat(2 * MB));
  telegram.say("small");
  await place.quiet();
  const [small, large] = await place.inbox();
  expect([small!.outcome, large!.outcome]).toEqual(["answered", "answered"]);
  expect(large!.text.length).toBeLessThan(1_000_200);
  expect(heard.join("\n")).toContain("The message was longer");
  expect(saidBy(telegram, chatId).length).toBeGreaterThan(0);
});

test("signs that nobody sees name nobody, give no command, and leave the message what it is", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  const { heard, says } = listener();
  await using place = await openChannelPlace(telegram, { says });
  const eve = telegram.person({ first_name: "\u202eecarG\u200b\u2066", username: "eve" });
  const group = telegram.group({ title: "\u202eslairt" });
  const name = telegram.bot.username!;
  telegram.say(`@${name.slice(0, 3)}\u200b${name.slice(3)} can you hear me?`, { from: eve, chat: group.id });
  telegram.say(`\u202e@${name.split("").reverse().join("")} hello`, { from: eve, chat: group.id });
  telegram.say("/s\u200btop", { from: eve });
  telegram.say("\u200b\u200b\u200b", { from: eve });
  await place.quiet();
  const rows = await place.inbox();
  expect(rows).toHaveLength(4);
  const inGroup = rows.filter(({ conversation }) => conversation.includes(String(group.id)));
  expect(inGroup.map(({ outcome }) => outcome)).toEqual(["silent", "silent"]);
  expect(saidBy(telegram, group.id)).toEqual([]);
  for (const { outcome } of rows.filter((row) => !inGroup.includes(row))) expect(["answered", "silent"]).toContain(outcome);
  expect(heard.join("\n")).toContain("top");
});

test("10,000 mentions are one message: read within bounds, answered once where we are among the first thousand", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  const { says } = listener();
  await using place = await openChannelPlace(telegram, { says });
  const group = telegram.group();
  telegram.say(Array.from({ length: 10_000 }, (_, n) => `@user_${n}`).join(" "), { chat: group.id });
  await place.quiet();
  expect(saidBy(telegram, group.id)).toEqual([]);
  telegram.say(`@${telegram.bot.username} ${Array.from({ length: 10_000 }, (_, n) => `@user_${n}`).join(" ")}`, { chat: group.id });
  await place.quiet();
  expect(saidBy(telegram, group.id)).toHaveLength(1);
  expect((await place.inbox()).map(({ outcome }) => outcome)).toEqual(["answered", "silent"]);
});

test("markup in an answer is shown as it was written and opens nothing", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  const wild = '<b>bold</b> <script>alert(1)</script> &lt;i&gt; </code></pre> <a href="tg://user?id=1">you</a> [run](javascript:alert(1)) <tg-spoiler>';
  await using place = await openChannelPlace(telegram, { says: () => wild });
  const { chatId } = telegram.say("<b>&amp; [x](javascript:1) **");
  await place.quiet();
  const [seen, ...more] = saidBy(telegram, chatId);
  expect(more).toEqual([]);
  expect(seen!.text).toContain("<b>bold</b> <script>alert(1)</script>");
  expect(seen!.text).toContain('<a href="tg://user?id=1">you</a>');
  expect(JSON.stringify(seen!.entities)).not.toMatch(/javascript|tg:\/\/|text_link|spoiler/);
  expect(await place.outbox()).toMatchObject([{ state: "sent", attempts: 1 }]);
});

test("a file that is too large, one that is gone and one that is not what it says: the message is answered and the model is notified", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  const { heard, says } = listener();
  await using place = await openChannelPlace(telegram, { says, settings: { mediaMaxMb: 1 } });
  const { chatId } = telegram.say("large", { file: { kind: "document", data: Buffer.alloc(3 * MB, 1), name: "large.bin" } });
  await place.quiet();
  expect(heard.at(-1)).toContain("[media: large.bin is 3 MB; channels.telegram.mediaMaxMb allows 1 MB]");
  telegram.fault("file", { status: 404 });
  telegram.say("gone", { file: { kind: "document", data: Buffer.from("x"), name: "gone.txt" } });
  await place.quiet();
  expect(heard.at(-1)).toMatch(/gone[\s\S]*\[media: /);
  telegram.say("disguised", { file: { kind: "document", data: Buffer.from("<html><script>1</script></html>"), name: "cat.png", mime: "image/png" } });
  await place.quiet();
  const disguised = heard.at(-1)!;
  telegram.say("honest", { file: { kind: "document", data: PNG, name: "../../etc/passwd", mime: "text/plain" } });
  await place.quiet();
  expect(disguised).toMatch(/\[media attached: .*\.txt \(text\/plain\)\]/);
  expect(heard.at(-1)).toMatch(/\[media attached: .*\.png \(image\/png\)\]/);
  expect(saidBy(telegram, chatId)).toHaveLength(4);
  expect(new Set((await place.inbox()).map(({ outcome }) => outcome))).toEqual(new Set(["answered"]));
  const kept = join(place.folder, "media");
  expect(existsSync(kept)).toBe(true);
  expect(readdirSync(kept, { recursive: true }).some((name) => String(name).includes(".."))).toBe(false);
});
