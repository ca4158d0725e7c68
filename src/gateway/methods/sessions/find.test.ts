import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock } from "../../../base/clock.ts";
import { openStore } from "../../../store/index.ts";
import { listSessions } from "./find.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sessions-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a search waits for transcripts that are being imported, and says so when not all of them were searched", async () => {
  const clock = manualClock(1_000_000);
  await using opened = await openStore({ stateDir: folder, clock });
  const importing = Promise.withResolvers<void>();
  const store = { ...opened, imported: () => importing.promise };
  const config = { current: {}, paths: { state: folder } } as unknown as Parameters<typeof listSessions>[1]["config"];
  const deps = { config, store, clock, extensions: undefined };
  const late = listSessions({ search: "narwhal" }, deps);
  clock.advance(2000);
  expect(await late).toMatchObject({ count: 0, incomplete: true });
  expect(await listSessions({}, deps)).not.toHaveProperty("incomplete");
  const waiting = listSessions({ search: "narwhal" }, deps);
  importing.resolve();
  expect(await waiting).not.toHaveProperty("incomplete");
});
