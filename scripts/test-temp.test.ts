import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import testTemp from "./test-temp.ts";

test("what tests and the programs that they start put aside lies in a folder of the run", () => {
  expect(basename(tmpdir())).toMatch(/^oc-/);
  const { stdout } = spawnSync(process.execPath, ["-p", "os.tmpdir()"], { encoding: "utf8" });
  expect(stdout.trim()).toBe(tmpdir());
});

test("that folder is short, open to other users like the system's own, and gone with everything in it after the run", () => {
  const before = process.env["TMPDIR"];
  onTestFinished(() => void (process.env["TMPDIR"] = before));
  const end = testTemp();
  const folder = tmpdir();
  expect([dirname(folder), basename(folder).length, statSync(folder).mode & 0o7777]).toEqual([before, 9, 0o1777]);
  writeFileSync(join(mkdtempSync(join(folder, "left-")), "behind"), "x");
  end();
  expect([existsSync(folder), process.env["TMPDIR"]]).toEqual([false, before]);
});
