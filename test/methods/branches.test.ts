import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readPath, readTranscript } from "../../src/sessions/index.ts";
import { openMethods, type MethodFixture } from "../harness/methods.ts";
import { line, said, seedSession } from "../harness/seeded-session.ts";

const KEY = "agent:main:main";
let fixture: MethodFixture;
beforeEach(async () => {
  fixture = await openMethods();
});
afterEach(() => fixture[Symbol.asyncDispose]());

const page = () => fixture.call("chat.page", { sessionKey: "main" });
const textOf = (content: readonly unknown[]) => (content[0] as { text?: string } | undefined)?.text ?? "";
const texts = async () => (await page()).entries.map(({ content }) => textOf(content));
const entry = async (text: string, kind = "user") => (await page()).entries.find((one) => one.kind === kind && textOf(one.content) === text)!;
const siblings = async () => (await page()).entries.map(({ siblings: of }) => (of ? `${of.at}/${of.of}` : ""));

async function say(message: string, idempotencyKey: string, more: object = {}): Promise<void> {
  await fixture.call("chat.send", { sessionKey: "main", message, idempotencyKey, ...more });
  await fixture.echo.outcome(idempotencyKey);
}

async function again(entryId: string, idempotencyKey: string): Promise<void> {
  await fixture.call("chat.regenerate", { sessionKey: "main", entryId, idempotencyKey });
  await fixture.echo.outcome(idempotencyKey);
}

const history = async () =>
  (await fixture.call("chat.history", { sessionKey: "main" })).messages.map((message) => textOf((message as { content: readonly unknown[] }).content));

test("an edited message begins a branch: what followed the old one is not seen, and is there when it is switched back", async () => {
  await say("one", "r1");
  await say("two", "r2");
  const old = (await entry("two")).id!;
  await say("TWO", "r3", { edits: old });
  expect(await texts()).toEqual(["one", "one", "TWO", "TWO"]);
  expect(await siblings()).toEqual(["", "", "2/2", ""]);
  expect(await history()).toEqual(["one", "one", "TWO", "TWO"]);
  const { siblings: of } = await entry("TWO");
  expect(await fixture.call("chat.branch", { sessionKey: "main", entryId: of!.previous! })).toEqual({ ok: true, sessionKey: KEY, changed: true });
  expect(await texts()).toEqual(["one", "one", "two", "two"]);
  expect((await entry("two")).siblings).toMatchObject({ at: 1, of: 2, next: expect.any(String) });
  // It goes on from there, and back again on the other one.
  await say("three", "r4");
  expect(await texts()).toEqual(["one", "one", "two", "two", "three", "three"]);
  await fixture.call("chat.branch", { sessionKey: "main", entryId: (await entry("two")).siblings!.next! });
  expect(await texts()).toEqual(["one", "one", "TWO", "TWO"]);
  await fixture.call("chat.branch", { sessionKey: "main", entryId: old });
  expect(await texts()).toEqual(["one", "one", "two", "two", "three", "three"]);
});

test("the first message can be edited, too", async () => {
  await say("helo", "r1");
  await say("hello", "r2", { edits: (await entry("helo")).id! });
  expect(await texts()).toEqual(["hello", "hello"]);
  expect(await siblings()).toEqual(["2/2", ""]);
});

test("an answer is made once more below the same message; both are listed, with all that they say", async () => {
  await say("one", "r1");
  await say("two", "r2");
  const first = (await entry("two", "assistant")).id!;
  await again(first, "r3");
  await again((await entry("two")).id!, "r4");
  expect(await texts()).toEqual(["one", "one", "two", "two"]);
  expect(await siblings()).toEqual(["", "", "", "3/3"]);
  const shown = await entry("two", "assistant");
  const { branches } = await fixture.call("chat.branches", { sessionKey: "main", entryId: shown.id! });
  expect(branches).toMatchObject([
    { id: first, kind: "assistant", text: "two", model: "echo", shown: false },
    { shown: false },
    { id: shown.id, text: "two", shown: true },
  ]);
  // The run asked the model with the message as its last one.
  await say("three", "r5");
  expect(await history()).toEqual(["one", "one", "two", "two", "three", "three"]);
});

test("the same request is the same branch, running or ended", async () => {
  await say("one", "r1");
  const { id } = await entry("one", "assistant");
  const request = { sessionKey: "main", entryId: id!, idempotencyKey: "again" };
  const answers = await Promise.all([fixture.call("chat.regenerate", request), fixture.call("chat.regenerate", request)]);
  expect(answers.map(({ status }) => status).sort()).toEqual(["in_flight", "started"]);
  await fixture.echo.outcome("again");
  expect(await fixture.call("chat.regenerate", request)).toEqual({ runId: "again", status: "ok" });
  expect(await siblings()).toEqual(["", "2/2"]);
  const edit = { sessionKey: "main", message: "ONE", edits: (await entry("one")).id!, idempotencyKey: "edit" };
  await fixture.call("chat.send", edit);
  await fixture.echo.outcome("edit");
  expect(await fixture.call("chat.send", edit)).toEqual({ runId: "edit", status: "ok" });
  expect(await siblings()).toEqual(["2/2", ""]);
});

test("while a run is active nothing is branched, and the same request works afterwards", async () => {
  await say("one", "r1");
  const { id: entryId = "" } = await entry("one");
  await fixture.call("chat.send", { sessionKey: "main", message: "slow @chunks=2 @gap=1000", idempotencyKey: "r2" });
  const refused = { code: "CONFLICT", details: { reason: "run-active", retryable: true } };
  const edit = { sessionKey: "main", message: "ONE", edits: entryId, idempotencyKey: "r3" };
  await expect(fixture.call("chat.send", edit)).rejects.toMatchObject(refused);
  await expect(fixture.call("chat.regenerate", { sessionKey: "main", entryId, idempotencyKey: "r4" })).rejects.toMatchObject(refused);
  await expect(fixture.call("chat.branch", { sessionKey: "main", entryId })).rejects.toMatchObject(refused);
  await fixture.call("chat.abort", { sessionKey: "main" });
  await fixture.echo.outcome("r2");
  await say("ONE", "r3", { edits: entryId });
  expect(await texts()).toEqual(["ONE", "ONE"]);
});

test("entries of elsewhere, of other branches, without a message and summed up ones are refused with the reason", async () => {
  const reply = { message: { role: "assistant", content: [{ type: "text", text: "yes" }], provider: "p", model: "m", usage: {}, stopReason: "stop" } };
  const compaction = { type: "compaction", summary: "all of it", firstKeptEntryId: "c", tokensBefore: 1 };
  await seedSession(
    fixture.store,
    [
      line("a", null, said("a"), 1),
      line("b", "a", reply, 2),
      line("c", "b", said("c"), 3),
      line("d", "c", reply, 4),
      line("e", "d", compaction, 5),
      line("f", "e", said("f"), 6),
      line("g", "f", reply, 7),
    ],
    KEY,
  );
  const edit = (edits: string) => fixture.call("chat.send", { sessionKey: "main", message: "x", edits, idempotencyKey: `x-${edits}` });
  const reason = (name: string) => ({ details: { reason: name } });
  await expect(edit("nope")).rejects.toMatchObject({ code: "NOT_FOUND", ...reason("not-in-session") });
  await expect(edit("a")).rejects.toMatchObject(reason("compacted"));
  await expect(fixture.call("chat.regenerate", { sessionKey: "main", entryId: "b", idempotencyKey: "y" })).rejects.toMatchObject(reason("compacted"));
  await expect(edit("d")).rejects.toMatchObject(reason("not-a-message"));
  await edit("f");
  await fixture.echo.outcome("x-f");
  await expect(edit("g")).rejects.toMatchObject(reason("not-on-branch"));
  await expect(fixture.call("chat.branch", { sessionKey: "main", entryId: "nope" })).rejects.toMatchObject(reason("not-in-session"));
  // The first message that is still seen word for word can be edited.
  await edit("c");
  await fixture.echo.outcome("x-c");
  expect(await texts()).toEqual(["a", "yes", "x", "x"]);
});

test("the file opens on the branch in use, and so does a gateway that starts again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "branches-"));
  try {
    let file = "";
    {
      await using life = await openMethods({ folder });
      const send = async (message: string, idempotencyKey: string, more: object = {}) => {
        await life.call("chat.send", { sessionKey: "main", message, idempotencyKey, ...more });
        await life.echo.outcome(idempotencyKey);
      };
      await send("one", "r1");
      await send("two", "r2");
      const old = (await life.call("chat.page", { sessionKey: "main" })).entries[2]!.id!;
      await send("TWO", "r3", { edits: old });
      await life.call("chat.branch", { sessionKey: "main", entryId: old });
      const [transcript] = await life.store.read("transcripts.list", { agentId: "main" });
      file = join(folder, transcript!.file);
    }
    const { entries, unreadable } = readTranscript(readFileSync(file, "utf8"));
    const path = readPath(entries).flatMap((one) => (one.type === "message" ? [(one["message"] as { content: readonly unknown[] }).content] : []));
    expect(unreadable).toBe(0);
    expect(path.map((content) => textOf(content).replace(/^\[[^\]]*\] /, ""))).toEqual(["one", "one", "two", "two"]);
    await using life = await openMethods({ folder, seed: 2 });
    const shown = (await life.call("chat.page", { sessionKey: "main" })).entries;
    expect(shown.map(({ content }) => textOf(content))).toEqual(["one", "one", "two", "two"]);
    expect(shown[2]!.siblings).toMatchObject({ at: 1, of: 2 });
    const markdown = await life.call("sessions.export", { key: "main", format: "markdown" });
    expect(markdown.text).not.toContain("TWO");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("when the new answer never came, the page says that there is a former one", async () => {
  await say("one", "r1");
  const answer = (await entry("one", "assistant")).id!;
  const [transcript] = await fixture.store.read("transcripts.list", { agentId: "main" });
  const { id: asked } = await entry("one");
  await fixture.store.write("transcripts.append", {
    file: transcript!.file,
    entries: [line("0000000f", asked!, { type: "custom", customType: "openclaw:branch", data: {} })],
  });
  expect(await page()).toMatchObject({ entries: [{ kind: "user" }], others: [answer] });
  await fixture.call("chat.branch", { sessionKey: "main", entryId: answer });
  expect(await texts()).toEqual(["one", "one"]);
});

test("a conversation of yesterday goes on where it is branched, instead of being reset", async () => {
  await say("one", "r1");
  const { sessionId } = await page();
  fixture.clock.advance(36 * 3_600_000);
  await again((await entry("one", "assistant")).id!, "r2");
  expect(await texts()).toEqual(["one", "one"]);
  expect(await siblings()).toEqual(["", "2/2"]);
  fixture.clock.advance(36 * 3_600_000);
  await say("ONE", "r3", { edits: (await entry("one")).id! });
  expect(await texts()).toEqual(["ONE", "ONE"]);
  expect((await page()).sessionId).toBe(sessionId);
});

test("a stop does not wait for a branch that waits for the session", async () => {
  await say("one", "r1");
  const { id: entryId = "" } = await entry("one");
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const upkeep = fixture.echo.exclusively(KEY, () => held);
  const pump = setInterval(() => fixture.clock.advance(100), 1);
  try {
    const wanted = fixture.call("chat.regenerate", { sessionKey: "main", entryId, idempotencyKey: "r2" });
    const refused = wanted.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(await fixture.call("chat.abort", { sessionKey: "main" })).toMatchObject({ aborted: false });
    expect(await refused).toMatchObject({ code: "CONFLICT", details: { reason: "run-active", retryable: true } });
  } finally {
    clearInterval(pump);
    release();
    await upkeep;
  }
  // What was given up is not begun later.
  expect(await siblings()).toEqual(["", ""]);
  await again(entryId, "r2");
  expect(await siblings()).toEqual(["", "2/2"]);
});

test("a conversation is called by its first message on the branch in use", async () => {
  const sessionKey = "agent:main:web:named";
  const send = async (message: string, idempotencyKey: string, more: object = {}) => {
    await fixture.call("chat.send", { sessionKey, message, idempotencyKey, ...more });
    await fixture.echo.outcome(idempotencyKey);
  };
  const title = async () => (await fixture.call("sessions.list", { search: "named", includeDerivedTitles: true })).sessions[0]!.derivedTitle;
  await send("what is the wheather", "r1");
  for (let n = 0; n < 12; n += 1) await send(`more ${n}`, `m${n}`);
  const first = (await fixture.call("chat.page", { sessionKey })).entries[0]!;
  await send("what is the weather", "r2", { edits: first.id! });
  expect(await title()).toBe("what is the weather");
  await fixture.call("chat.branch", { sessionKey, entryId: first.id! });
  expect(await title()).toBe("what is the wheather");
});
