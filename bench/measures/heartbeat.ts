/** Heartbeats: what they cost while there is nothing to do, and how much a model is asked when there is. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createLazyHeartbeat } from "../../src/automation/index.ts";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { makeAgentPlace, type BenchModel } from "../drivers/agent-place.ts";
import type { BenchContext, Row } from "../row.ts";
import { round } from "../stats.ts";

const HALF_HOUR_MS = 1_800_000;
const BEATS_IN_AN_HOUR = 2;
/** A file as it is created for a new agent: it asks for nothing. */
const EMPTY = "# HEARTBEAT.md\n\n<!-- Add tasks below -->\n- [ ]\n";

/** The beats of many hours, one after the other, with a file that asks for nothing. */
export async function idleHour(context: BenchContext): Promise<Row> {
  const hours = context.quick ? 5 : 200;
  const { openStore } = await context.loadStore();
  const stateDir = join(context.folder, "idle-hour");
  mkdirSync(stateDir);
  writeFileSync(join(stateDir, "HEARTBEAT.md"), EMPTY);
  const clock = manualClock(Date.now());
  await using store = await openStore({ stateDir, clock: systemClock });
  let runs = 0;
  let beat = Promise.withResolvers<string | undefined>();
  using heartbeat = createLazyHeartbeat({
    config: { current: {} },
    store,
    clock,
    log: silentLogger,
    times: () => [["main", HALF_HOUR_MS]],
    runs: { accept: () => ((runs += 1), Promise.reject(new Error("there is nothing to do"))), outcome: () => Promise.resolve(undefined) },
    isBusy: () => false,
    workspace: () => stateDir,
    notReady: () => Promise.resolve(undefined),
    emit: ({ reason }) => beat.resolve(reason),
    isSeen: () => false,
    done: () => {},
  });
  await heartbeat.start();
  const beats = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n += 1) {
      beat = Promise.withResolvers();
      clock.advance(HALF_HOUR_MS);
      const why = await beat.promise;
      // The next time is planned once this beat is over.
      await new Promise(setImmediate);
      if (why !== "empty-heartbeat-file") throw new Error(`a heartbeat with nothing to do ended with ${why}`);
    }
  };
  await beats(10);
  const before = process.cpuUsage();
  await beats(hours * BEATS_IN_AN_HOUR);
  const { user, system } = process.cpuUsage(before);
  const facts = { hours, "beats an hour": BEATS_IN_AN_HOUR, "model calls": runs };
  return {
    name: "automation: processor time of an idle hour with heartbeats",
    value: runs > 0 ? Number.NaN : round((user + system) / 1000 / hours, 2),
    unit: "ms",
    bar: 5,
    better: "lower",
    facts,
  };
}

/** Characters that make a token, about: fewer than in plain text, as schemas are JSON. */
const CHARS_PER_TOKEN = 3.5;
const PATIENCE_MS = 30_000;

/** What a model is asked in a beat outside the main session: messages and the schemas of tools. */
export async function isolatedBeat(context: BenchContext, model: BenchModel): Promise<Row> {
  const name = "isolated-beat";
  const workspace = join(context.folder, name, "workspace");
  const defaults = { workspace, model: { primary: "mock/m1" }, heartbeat: { every: "1s", isolated: true } };
  const place = await makeAgentPlace(context, name, model, { config: { agents: { defaults } } });
  writeFileSync(join(workspace, "HEARTBEAT.md"), "- Look for mail that needs an answer today\n- Report disks that are nearly full\n");
  const before = await model.requests();
  await using _gateway = await place.start();
  const end = Date.now() + PATIENCE_MS;
  while ((await model.requests()) === before) {
    if (Date.now() > end) throw new Error("no heartbeat asked the model");
    await wait(20);
  }
  const { messages, tools = [] } = await model.last();
  const chars = (value: unknown): number => JSON.stringify(value).length;
  const facts = {
    "characters of messages": chars(messages),
    "characters of schemas": chars(tools),
    tools: tools.length,
    "characters a token": CHARS_PER_TOKEN,
  };
  const value = Math.round((chars(messages) + chars(tools)) / CHARS_PER_TOKEN);
  return { name: "automation: prompt of a heartbeat outside the main session", value, unit: "tokens", bar: 2000, better: "lower", facts };
}
