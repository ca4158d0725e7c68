import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { connectNode } from "../../src/protocol/client/node.ts";
import { inspectStore, openStore } from "../../src/store/index.ts";
import { makePlace, type Place } from "../harness/gateway-process.ts";

const TOKEN = "a-token-of-this-test-0123456789";
const DAY = 86_400_000;
const KEY = "agent:main:webchat:direct:old";
const ID = "00000000-0000-4000-8000-000000000001";
const FILE = `agents/main/sessions/${ID}.jsonl`;

/** A session of last year that has been archived since. */
async function makeArchived({ stateDir }: Place): Promise<readonly string[]> {
  const clock = manualClock(Date.now() - 400 * DAY);
  await using store = await openStore({ stateDir, clock });
  const timestamp = new Date(clock.now()).toISOString();
  const header = JSON.stringify({ type: "session", version: 3, id: ID, timestamp, cwd: "/" });
  await store.write("transcripts.ensure", { file: FILE, agentId: "main", sessionId: ID, header });
  await store.write("sessions.put", { key: KEY, agentId: "main", entry: { sessionId: ID, updatedAt: clock.now(), sessionFile: FILE } });
  const entries = ["Where does the narwhal live?", "In arctic waters.", "Who studied it?", "Several marine biologists."].map((text, n) => {
    const message = { role: n % 2 === 0 ? "user" : "assistant", content: [{ type: "text", text }], timestamp: clock.now() };
    const parentId = n === 0 ? null : `0000000${n - 1}`;
    return {
      id: `0000000${n}`,
      parentId,
      type: "message",
      at: clock.now(),
      line: JSON.stringify({ type: "message", id: `0000000${n}`, parentId, timestamp, message }),
    };
  });
  await store.write("transcripts.append", { file: FILE, entries });
  clock.advance(399 * DAY);
  while (!(await store.maintain({ budgetMs: 10_000, policy: { compressMs: 30 * DAY } })).done);
  return [header, ...entries.map(({ line }) => line)];
}

test("an archived session is listed, found, previewed, read and exported like any other, and a new message continues it with its file complete", async () => {
  const place = makePlace();
  const lines = await makeArchived(place);
  expect([existsSync(join(place.stateDir, FILE)), existsSync(join(place.stateDir, `${FILE}.gz`))]).toEqual([false, true]);
  place.configure(`{ gateway: { mode: "local", auth: { token: "${TOKEN}" } }, session: { reset: { mode: "idle", idleMinutes: 9000000 } } }`);
  await using gateway = await place.gateway();
  const stateDir = mkdtempSync(join(tmpdir(), "openclaw-client-"));
  await using client = await connectNode({
    url: gateway.url!,
    token: TOKEN,
    client: { id: "test", mode: "test", version: "1.0.0", platform: "linux" },
    stateDir,
  });

  const seen = { includeDerivedTitles: true, includeLastMessage: true };
  for (const search of ["narwhal", "marine biologists"]) {
    const found = await client.request("sessions.list", { ...seen, search });
    expect(found.sessions).toMatchObject([{ key: KEY, derivedTitle: "Where does the narwhal live?", lastMessagePreview: "Several marine biologists." }]);
  }
  const { previews } = await client.request("sessions.preview", { keys: [KEY] });
  expect(previews[0]!.items.map(({ text }) => text)).toEqual([
    "Where does the narwhal live?",
    "In arctic waters.",
    "Who studied it?",
    "Several marine biologists.",
  ]);
  const history = async (): Promise<readonly unknown[]> => (await client.request("chat.history", { sessionKey: KEY })).messages;
  expect(await history()).toHaveLength(4);
  using inspection = inspectStore(place.stateDir)!;
  expect(inspection.read("transcripts.page", { file: FILE, limit: 100 }).map(({ line }) => line)).toEqual(lines);
  expect(existsSync(join(place.stateDir, FILE))).toBe(false);

  await client.request("chat.send", { sessionKey: KEY, message: "And what does it eat?", idempotencyKey: "continue-1" });
  await expect.poll(async () => (await history()).length, { timeout: 20_000 }).toBeGreaterThanOrEqual(6);
  const content = (): readonly string[] => readFileSync(join(place.stateDir, FILE), "utf8").split("\n");
  await expect.poll(() => content().some((line) => line.includes("And what does it eat?"))).toBe(true);
  expect(content().slice(0, lines.length)).toEqual(lines);
  expect(existsSync(join(place.stateDir, `${FILE}.gz`))).toBe(false);
});

test("deleting an archived session names the file that is there", async () => {
  const place = makePlace();
  await makeArchived(place);
  place.configure(`{ gateway: { mode: "local", auth: { token: "${TOKEN}" } } }`);
  await using gateway = await place.gateway();
  const stateDir = mkdtempSync(join(tmpdir(), "openclaw-client-"));
  await using client = await connectNode({
    url: gateway.url!,
    token: TOKEN,
    client: { id: "test", mode: "test", version: "1.0.0", platform: "linux" },
    stateDir,
  });
  const { archived } = await client.request("sessions.delete", { key: KEY });
  expect(archived).toEqual([expect.stringMatching(/\.jsonl\.deleted\..*\.gz$/)]);
  await expect.poll(() => existsSync(archived[0]!)).toBe(true);
});
