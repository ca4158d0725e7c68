import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readProgramFile } from "./program-output.ts";

let home: string;
let folder: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openclaw-program-output-"));
  folder = mkdtempSync(join(home, "made-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Runs a shell in the folder, as the program that writes there, then reads what it left. */
async function written(script: string, maxBytes = 10): Promise<string | undefined> {
  const { status, stderr } = spawnSync("/bin/sh", ["-c", script], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return (await readProgramFile({ folder, name: "out", maxBytes, program: "maker" }))?.toString("utf8");
}

test("a regular file is read whole, an empty one too, and none is none", async () => {
  expect(await written("printf 0123456789 > out")).toBe("0123456789");
  expect(await written(": > out")).toBe("");
  expect(await written("rm out")).toBeUndefined();
});

test.each([
  ["a link within the folder", "printf x > other; ln -s other out", "but it is a link"],
  ["a link elsewhere", "printf x > ../secret; ln -s ../secret out", "but it is a link"],
  ["a link to itself", "ln -s out out", "but it is a link"],
  ["a second name of a file", "printf x > ../secret; ln ../secret out", "but it is another name of a file elsewhere"],
  ["a pipe", "mkfifo out", "but it is a pipe"],
  ["a folder", "mkdir out", "but it is a folder"],
  ["too large a file", "printf 0123456789a > out", "but it has 11 bytes; at most 10 are read"],
  ["a folder that was replaced", 'printf x > ../out; mv "$PWD" ../moved; ln -s . "$PWD"', "but it lies outside of its folder"],
  ["a folder that became another", 'mkdir ../other; printf x > ../other/out; mv "$PWD" ../moved; ln -s other "$PWD"', "but it lies outside of its folder"],
])("%s is refused", async (_what, script, message) => {
  await expect(written(script)).rejects.toThrow(`maker was to write out as a regular file, ${message}`);
});

test("as many pipes as come block nobody", async () => {
  for (let at = 0; at < 16; at += 1) await expect(written("rm -f out; mkfifo out")).rejects.toThrow("a pipe");
});
