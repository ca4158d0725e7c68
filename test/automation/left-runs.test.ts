/** Runs that the previous process left are waited for, whichever module asks about them first. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadCron, loadWebhooks, type Cron, type CronEvent } from "../../src/automation/index.ts";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { seededRandom } from "../../src/base/random.ts";
import { systemEventWrite } from "../../src/gateway/index.ts";
import { OPEN, openPlace, type Place } from "../conversation/place.ts";
import { isolated } from "./cron-lab.ts";
import { whenAborted } from "../../src/base/when-aborted.ts";

const config = { current: OPEN };
const log = silentLogger;
const ids = createIds(seededRandom(7));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "left-runs-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A process that accepts runs and ends none of them. `began` resolves with the first of its turns. */
async function openStuck(): Promise<Place & { readonly began: Promise<void> }> {
  const began = Promise.withResolvers<void>();
  const place = await openPlace(OPEN, {
    folder,
    wrap: (turn) => async (input, ports) => {
      began.resolve();
      await whenAborted(ports.stopping);
      return turn(input, ports);
    },
  });
  return { ...place, began: began.promise };
}

/** Leaves what runs, as a process does that has no time. */
async function leave(place: Place): Promise<void> {
  await place.conversation.drain(0);
  await place[Symbol.asyncDispose]();
}

async function openWebhooks({ store, conversation }: Place, lines: string[]) {
  const { createTransforms, createWebhooks } = await loadWebhooks();
  const transforms = createTransforms({ clock: systemClock, configFolder: folder, transformsDir: () => undefined, env: () => ({}) });
  const secrets = { ...config, resolveSecret: async () => "" };
  const notify = async ({ text }: { readonly text: string }): Promise<unknown> => lines.push(text);
  return createWebhooks({ config: secrets, store, clock: systemClock, ids, log, runs: conversation, notify, transforms });
}

async function openCron({ store, conversation }: Place, events: CronEvent[]): Promise<Cron> {
  const { createCron } = await loadCron();
  return createCron({
    config: { ...config, resolveSecret: async () => "" },
    store,
    clock: systemClock,
    ids,
    log,
    runs: conversation,
    note: (event) => systemEventWrite({ config, ids }, event).write,
    post: async () => undefined,
    runnable: (text) => text,
    emit: (event) => void events.push(event),
    scheduled: () => {},
    disabledBy: () => undefined,
  });
}

/** Lets what was asked of the store be answered. */
async function settle({ store }: Place): Promise<void> {
  for (let round = 0; round < 20; round += 1) await store.read("inbox.counts", {}).then(() => new Promise(setImmediate));
}

test("a webhook run is reported with its answer, also when webhooks are opened before the messages are resumed", async () => {
  const first = await openStuck();
  const before = await openWebhooks(first, []);
  const body = { message: "sum up", name: "News", deliver: false, wakeMode: "next-heartbeat" };
  const request = { path: "agent", url: "/hooks/agent", headers: {}, query: {}, trusted: true };
  for (let n = 0; n < 3; n += 1)
    expect(await before.handle({ ...request, body: Buffer.from(JSON.stringify({ ...body, name: `News ${n}` })) })).toMatchObject({ status: 202 });
  await first.began;
  before.close();
  await leave(first);

  await using second = await openPlace(OPEN, { folder });
  const lines: string[] = [];
  const webhooks = await openWebhooks(second, lines);
  await webhooks.resume();
  await settle(second);
  expect(lines).toEqual([]);
  expect(await second.conversation.resume()).toBe(3);
  await expect.poll(() => lines.toSorted()).toEqual([0, 1, 2].map((n) => expect.stringMatching(new RegExp(`^Hook News ${n}: [^]*sum up`))));
  webhooks.close();
});

test("the run of a job is recorded as it ended, also when jobs are opened before the messages are resumed", async () => {
  const first = await openStuck();
  const before = await openCron(first, []);
  const { id } = await before.add(isolated("sum up", { schedule: { kind: "at", at: new Date().toISOString() }, deleteAfterRun: false }));
  await first.began;
  await before[Symbol.asyncDispose]();
  await leave(first);

  await using second = await openPlace(OPEN, { folder });
  const events: CronEvent[] = [];
  await using cron = await openCron(second, events);
  await cron.start();
  await settle(second);
  expect(events.map(({ action }) => action)).toEqual(["started"]);
  expect(await second.conversation.resume()).toBe(1);
  await expect.poll(() => cron.runs(id, 5)).toMatchObject([{ status: "ok", summary: expect.stringContaining("sum up") }]);
});
