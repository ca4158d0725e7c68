/** 17: a link was swapped between the check and the use. A thread swaps as fast as it can while every way to a file is used. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AppError } from "../../src/base/errors.ts";
import { isInside } from "../../src/base/files.ts";
import { createRootedFiles, type RootedFiles } from "../../src/base/rooted-files.ts";

const CANARY = "canary-behind-the-link";
/** Points the link at one folder after the other, each time in one step, so that it is never missing. */
const SWAPPER = `
  const { parentPort, workerData: { link, targets } } = require("node:worker_threads");
  const { renameSync, symlinkSync } = require("node:fs");
  let on = true;
  parentPort.on("message", () => { on = false; });
  let swaps = 0;
  (function swap() {
    for (let n = 0; n < 50; n += 1, swaps += 1) {
      symlinkSync(targets[swaps % targets.length], link + ".next");
      renameSync(link + ".next", link);
    }
    if (on) setImmediate(swap);
    else parentPort.postMessage(swaps);
  })();
`;

let home: string;
let root: string;
let inside: string;
let outside: string;
let names = 0;
const unique = (): string => `tmp${(names += 1)}`;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "swapped-"));
  [root, inside, outside] = [join(home, "root"), join(home, "root/inside"), join(home, "outside")];
  for (const folder of [root, inside, outside]) mkdirSync(folder);
  for (const name of ["file", "gone"]) writeFileSync(join(outside, name), CANARY);
  writeFileSync(join(inside, "file"), "harmless");
  symlinkSync(inside, join(root, "link"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Works while the link is swapped. Gives how often it was. */
async function whileSwapped(work: () => Promise<void>): Promise<number> {
  const worker = new Worker(SWAPPER, { eval: true, workerData: { link: join(root, "link"), targets: [outside, inside] } });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  worker.once("message", resolve).once("error", reject);
  try {
    await work();
  } finally {
    worker.postMessage("stop");
  }
  return promise;
}

async function textAt(files: RootedFiles, path: string): Promise<string> {
  await using handle = await files.open(path);
  return String(await handle.readFile());
}

async function namesAt(files: RootedFiles, path: string): Promise<string> {
  await using folder = await files.folder(path);
  return JSON.stringify(await folder.read(100));
}

const ROUNDS = 400;

interface Seen {
  readonly texts: Set<string>;
  done: number;
  refused: number;
}

/** Every operation in turn, many times. What fails is counted; what is shown is kept. */
async function race(files: RootedFiles, ways: readonly ((files: RootedFiles, round: number) => Promise<unknown>)[]): Promise<Seen> {
  const seen: Seen = { texts: new Set(), done: 0, refused: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const result of await Promise.allSettled(ways.map((way) => way(files, round)))) {
      if (result.status === "rejected") seen.refused += 1;
      else {
        seen.done += 1;
        if (typeof result.value === "string") seen.texts.add(result.value);
      }
    }
  }
  return seen;
}

function expectUntouched(): void {
  expect(readdirSync(outside).sort()).toEqual(["file", "gone"]);
  for (const name of ["file", "gone"]) expect(readFileSync(join(outside, name), "utf8")).toBe(CANARY);
}

test("17: a root holds while its links are swapped: nothing outside is read, listed, written, made or deleted", { timeout: 120_000 }, async () => {
  const files = createRootedFiles({ root, unique });
  const at = (name: string): string => join(root, "link", name);
  let seen: Seen | undefined;
  const swaps = await whileSwapped(async () => {
    seen = await race(files, [
      (all) => textAt(all, at("file")),
      (all) => namesAt(all, at("")),
      (all) => all.write(at("file"), "harmless"),
      (all, round) => all.write(at(`new-${round % 5}/deep`), "harmless"),
      (all) => all.remove(at("gone")),
    ]);
  });
  expectUntouched();
  expect([...seen!.texts].filter((text) => text.includes(CANARY) || text.includes('"gone"'))).toEqual([]);
  // Both sides of the race were met; else nothing was tried.
  expect([swaps > 100, seen!.done > 50, seen!.refused > 50]).toEqual([true, true, true]);
});

test("17: what is sealed stays sealed while a link to it is swapped, without any root", { timeout: 120_000 }, async () => {
  const check = (path: string): void => {
    if (isInside(outside, path)) throw new AppError("PERMISSION_DENIED", `${path} is sealed`);
  };
  const files = createRootedFiles({ check, unique });
  const at = (name: string): string => join(root, "link", name);
  let seen: Seen | undefined;
  const swaps = await whileSwapped(async () => {
    seen = await race(files, [
      (all) => all.write(at("file"), "harmless"),
      (all, round) => all.write(at(`new-${round % 5}`), "harmless"),
      (all) => all.remove(at("gone")),
    ]);
  });
  expectUntouched();
  expect([swaps > 100, seen!.done > 50, seen!.refused > 50]).toEqual([true, true, true]);
});
