import { mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { watchFiles, type FileWatchDeps, type WatchFolder } from "./watch.ts";

function setup(over: Partial<FileWatchDeps> = {}) {
  const marks = new Map<string, string>();
  const folders = new Map<string, (name: string | undefined) => void>();
  const clock = manualClock();
  let settled = 0;
  const watchFolder: WatchFolder = (folder, onChange) => {
    folders.set(folder, onChange);
    return { [Symbol.dispose]: () => void folders.delete(folder) };
  };
  const watch = watchFiles({
    clock,
    debounceMs: () => 300,
    watchFolder,
    signature: (path) => marks.get(path) ?? "absent",
    onSettled: () => (settled += 1),
    ...over,
  });
  const write = (path: string, mark: string) => {
    marks.set(path, mark);
    folders.get(path.slice(0, path.lastIndexOf("/")))?.(path.slice(path.lastIndexOf("/") + 1));
  };
  return { clock, watch, write, marks, folders, settled: () => settled };
}

test("a change is reported once, after 200 ms of rest and the debounce", () => {
  const { watch, write, clock, settled } = setup();
  watch.follow(["/c/openclaw.json"]);
  write("/c/openclaw.json", "1");
  clock.advance(499);
  expect(settled()).toBe(0);
  clock.advance(1);
  expect(settled()).toBe(1);
  clock.advance(60_000);
  expect(settled()).toBe(1);
});

test("a file that is still being written is waited for", () => {
  const { watch, write, marks, clock, settled } = setup();
  watch.follow(["/c/a"]);
  write("/c/a", "half");
  clock.advance(150);
  marks.set("/c/a", "more");
  clock.advance(100);
  marks.set("/c/a", "all");
  clock.advance(400);
  expect(settled()).toBe(0);
  clock.advance(300);
  expect(settled()).toBe(1);
});

test("many changes in a row are one", () => {
  const { watch, write, clock, settled } = setup();
  watch.follow(["/c/a", "/d/b"]);
  for (let at = 0; at < 10; at += 1) {
    write(at % 2 ? "/c/a" : "/d/b", String(at));
    clock.advance(250);
  }
  expect(settled()).toBe(0);
  clock.advance(500);
  expect(settled()).toBe(1);
});

test("other files of the folder, and a write that changes nothing, are not reported", () => {
  const { watch, write, clock, settled } = setup();
  watch.follow(["/c/a"]);
  write("/c/a.123.tmp", "x");
  write("/c/a", "absent");
  clock.advance(10_000);
  expect(settled()).toBe(0);
});

test("a change that the platform does not tell is found by looking", () => {
  const { watch, marks, clock, settled } = setup({ pollMs: 5000 });
  watch.follow(["/c/a"]);
  marks.set("/c/a", "new");
  clock.advance(5000);
  clock.advance(500);
  expect(settled()).toBe(1);
});

test("folders are followed and let go as files come and go, and nothing is reported after the end", () => {
  const { watch, write, folders, clock, settled } = setup();
  watch.follow(["/c/a", "/d/b"]);
  watch.follow(["/c/a", "/c/x"]);
  expect([...folders.keys()]).toEqual(["/c"]);
  write("/c/a", "1");
  watch[Symbol.dispose]();
  clock.advance(60_000);
  expect(settled()).toBe(0);
  expect(folders.size).toBe(0);
});

test("the debounce is asked for each time", () => {
  let debounce = 300;
  const { watch, write, clock, settled } = setup({ debounceMs: () => debounce });
  watch.follow(["/c/a"]);
  debounce = 0;
  write("/c/a", "1");
  clock.advance(200);
  expect(settled()).toBe(1);
});

test("on a real disk: an atomic replacement of the file is seen", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "config-watch-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "openclaw.json");
  writeFileSync(file, "{}");
  const clock = manualClock();
  const seen = Promise.withResolvers<void>();
  const settled = { seen: false };
  const watch = watchFiles({
    clock: { ...clock, after: (ms, fn) => (ms === 200 && seen.resolve(), clock.after(ms, fn)) },
    debounceMs: () => 300,
    pollMs: 1_000_000,
    onSettled: () => (settled.seen = true),
  });
  onTestFinished(() => watch[Symbol.dispose]());
  watch.follow([file]);
  writeFileSync(`${file}.tmp`, "{ a: 1 }");
  renameSync(`${file}.tmp`, file);
  await seen.promise;
  // One replacement may be reported twice, and each time the wait restarts.
  while (!settled.seen) {
    clock.advance(500);
    await new Promise(setImmediate);
  }
  expect(settled.seen).toBe(true);
});
