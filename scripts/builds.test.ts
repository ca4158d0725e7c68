import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { newBuild, useBuild } from "./builds.ts";

function setup() {
  const parent = realpathSync(mkdtempSync(join(tmpdir(), "builds-")));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const build = (text: string): string => {
    const folder = newBuild("dist", parent);
    writeFileSync(join(folder, "cli.js"), text);
    useBuild("dist", folder, parent);
    return folder;
  };
  return { parent, build, current: () => readFileSync(join(parent, "dist", "cli.js"), "utf8"), folders: () => readdirSync(parent).toSorted() };
}

test("a build takes the place of the one before it, which goes when nothing runs from it", () => {
  const { build, current, folders } = setup();
  build("one");
  build("two");
  expect([current(), folders()]).toEqual(["two", ["dist", "dist-b2"]]);
});

test("a build that a process runs from stays as it is, and goes once the process has ended", () => {
  const { build, current, folders } = setup();
  const first = build("one");
  writeFileSync(join(first, `.running-${process.pid}`), "");
  build("two");
  expect([current(), readFileSync(join(first, "cli.js"), "utf8")]).toEqual(["two", "one"]);
  rmSync(join(first, `.running-${process.pid}`));
  const ended = spawnSync(process.execPath, ["-e", ""]).pid;
  writeFileSync(join(first, `.running-${ended}`), "");
  build("three");
  expect(folders()).toEqual(["dist", "dist-b3"]);
});

test("a folder from before there were links gives way, and builds of other names are left alone", () => {
  const { build, current, parent } = setup();
  mkdirSync(join(parent, "dist"));
  mkdirSync(join(parent, "dist-test-b1"));
  build("one");
  expect(current()).toBe("one");
  expect([lstatSync(join(parent, "dist")).isSymbolicLink(), existsSync(join(parent, "dist-test-b1"))]).toEqual([true, true]);
});
