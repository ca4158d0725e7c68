import { expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { silentLogger } from "../base/log/logger.ts";
import { createAbsences } from "./absences.ts";

const MINUTE = 60_000;

function open() {
  const clock = manualClock();
  const meta = new Map<string, unknown>();
  const lines: { readonly text: string; readonly sessionKey: string }[] = [];
  const connected = new Set<string>();
  const store = {
    read: async (_: string, { key }: { readonly key: string }) => meta.get(key),
    write: async (_: string, { key, value }: { readonly key: string; readonly value: unknown }) => void meta.set(key, value),
  };
  const absences = createAbsences({
    store: store as never,
    clock,
    log: silentLogger,
    queueLine: async (line) => lines.push(line),
    isConnected: (nodeId) => connected.has(nodeId),
  });
  return { absences, clock, lines, connected };
}

test("a session that used a node is notified once when it stays away, and others are not", async () => {
  const { absences, clock, lines } = open();
  absences.used("shed", "agent:main:main");
  absences.used("attic", "agent:main:other");
  const at = clock.now();
  absences.gone("shed");
  clock.advance(MINUTE);
  await expect.poll(() => lines).toEqual([{ text: expect.stringMatching(/^Node offline \(node=shed\) since /), sessionKey: "agent:main:main" }]);
  absences.gone("shed");
  clock.advance(MINUTE);
  await expect.poll(async () => (await absences.times())["shed"]).toBe(at + MINUTE);
  expect(lines).toHaveLength(1);
});

test("a node that is back within a minute, and one that was last used long ago, are not reported", async () => {
  const { absences, clock, lines, connected } = open();
  absences.used("shed", "agent:main:main");
  absences.gone("shed");
  connected.add("shed");
  clock.advance(MINUTE);
  absences.used("old", "agent:main:main");
  clock.advance(25 * 60 * MINUTE);
  absences.gone("old");
  clock.advance(MINUTE);
  await expect.poll(async () => Object.keys(await absences.times())).toEqual(["shed", "old"]);
  expect(lines).toEqual([]);
});
