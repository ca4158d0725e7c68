import { expect, test } from "vitest";
import { manualClock, type ManualClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { createRestarts, type Restarts } from "./schedule.ts";

interface Setup {
  readonly clock: ManualClock;
  readonly restarts: Restarts;
  /** Lets time pass in small steps, as timers that are set one after the other need it. */
  pass(ms: number): Promise<void>;
  readonly due: () => string | undefined;
}

function setUp(options: { readonly restartedAt?: number; readonly runs?: () => number } = {}): Setup {
  const clock = manualClock();
  const restarts = createRestarts({ clock, log: silentLogger, pid: 4711, restartedAt: options.restartedAt, runs: options.runs ?? (() => 0) });
  let due: string | undefined;
  void restarts.due.then((reason) => (due = reason));
  return {
    clock,
    restarts,
    due: () => due,
    async pass(ms) {
      for (let left = ms; left > 0; left -= 50) {
        clock.advance(Math.min(50, left));
        await new Promise(setImmediate);
      }
    },
  };
}

test("a request is answered with the documented report and falls due after its delay", async () => {
  const { restarts, pass, due } = setUp();
  expect(restarts.request({ reason: "config.apply", delayMs: 2000 })).toEqual({
    ok: true,
    pid: 4711,
    signal: "SIGUSR1",
    mode: "emit",
    delayMs: 2000,
    reason: "config.apply",
    coalesced: false,
    cooldownMsApplied: 0,
  });
  await pass(1950);
  expect(due()).toBeUndefined();
  await pass(50);
  expect(due()).toBe("config.apply");
});

test("a later request is answered with the one that is planned; an earlier one takes its place", async () => {
  const { restarts, pass, due } = setUp();
  restarts.request({ reason: "first", delayMs: 2000 });
  await pass(500);
  expect(restarts.request({ reason: "later", delayMs: 5000 })).toMatchObject({ ok: true, coalesced: true, reason: "first", delayMs: 1500 });
  expect(restarts.request({ reason: "sooner", delayMs: 100 })).toMatchObject({ ok: true, coalesced: false, reason: "sooner", delayMs: 100 });
  await pass(100);
  expect(due()).toBe("sooner");
  expect(restarts.request({ reason: "too late", delayMs: 0 })).toMatchObject({ coalesced: true, reason: "sooner", delayMs: 0 });
});

test("after a restart the next one waits for the rest of 30 s, unless a person asks", () => {
  const { clock, restarts } = setUp({ restartedAt: 0 });
  clock.advance(10_000);
  expect(restarts.request({ reason: "config.patch", delayMs: 2000 })).toMatchObject({ delayMs: 22_000, cooldownMsApplied: 20_000 });
  expect(restarts.request({ reason: "SIGUSR1", delayMs: 0 }, { urgent: true })).toMatchObject({ delayMs: 0, cooldownMsApplied: 0, coalesced: false });
});

test("runs hold it up until they end, 30 s at most", async () => {
  let runs = 2;
  const first = setUp({ runs: () => runs });
  first.restarts.request({ reason: "r", delayMs: 0 });
  await first.pass(10_000);
  expect(first.due()).toBeUndefined();
  runs = 0;
  await first.pass(50);
  expect(first.due()).toBe("r");

  const endless = setUp({ runs: () => 1 });
  endless.restarts.request({ reason: "r", delayMs: 0 });
  await endless.pass(29_900);
  expect(endless.due()).toBeUndefined();
  await endless.pass(200);
  expect(endless.due()).toBe("r");
});

test("a gateway that ends for good restarts no more", async () => {
  let runs = 1;
  const { restarts, pass, due } = setUp({ runs: () => runs });
  restarts.request({ reason: "r", delayMs: 0 });
  await pass(100);
  restarts[Symbol.dispose]();
  runs = 0;
  await pass(100);
  expect(due()).toBeUndefined();
});
