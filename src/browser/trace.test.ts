import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { seededRandom } from "../base/random.ts";
import { createTraces } from "./trace.ts";

test("a trace that nobody stops is ended after 30 minutes, and is there for the user who stops it later", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "openclaw-trace-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const clock = manualClock();
  let stopped = 0;
  const tracing = {
    start: async () => undefined,
    async stop({ path }: { readonly path: string }) {
      stopped += 1;
      writeFileSync(path, "PK\u0003\u0004");
    },
  };
  const running = { context: { tracing }, gone: new AbortController().signal };
  const session = { start: async () => running, running: () => running, profile: { name: "openclaw" } };
  const files = { clock, ids: createIds(seededRandom(3)), stateDir, downloadsDir: join(stateDir, "downloads") };
  const work = { browser: { clock, session: () => session, files: () => files }, caller: { key: "c" }, params: {} } as never;
  const traces = createTraces(clock);
  await traces.start(work);
  clock.advance(29 * 60_000);
  expect(stopped).toBe(0);
  clock.advance(60_000);
  await expect.poll(() => stopped).toBe(1);
  expect((await traces.stop(work)).path).toContain(join(stateDir, "media", "browser"));
  expect(stopped).toBe(1);
  await expect(traces.stop(work)).rejects.toThrow("no trace is being recorded");
});
