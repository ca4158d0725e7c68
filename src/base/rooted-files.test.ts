import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync, chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRootedFiles, type RootedFiles } from "./rooted-files.ts";

let home: string;
let root: string;
let outside: string;
let files: RootedFiles;
let names = 0;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openclaw-rooted-"));
  root = join(home, "root");
  outside = join(home, "outside");
  for (const folder of [root, outside]) mkdirSync(folder);
  writeFileSync(join(outside, "secret"), "secret");
  files = createRootedFiles({ root, unique: () => `tmp${(names += 1)}` });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function textOf(path: string): Promise<string> {
  await using handle = await files.open(path);
  return String(await handle.readFile());
}

test("a file inside is read, written and deleted; folders are created and the mode is preserved", async () => {
  const path = join(root, "a/b/c.txt");
  await files.write(path, "one");
  chmodSync(path, 0o755);
  await files.write(path, "two");
  expect(await textOf(path)).toBe("two");
  expect(statSync(path).mode & 0o777).toBe(0o755);
  expect(readdirSync(join(root, "a/b"))).toEqual(["c.txt"]);
  await files.remove(path);
  expect(existsSync(path)).toBe(false);
});

test("paths outside are refused, through .. as well as through links to files or folders", async () => {
  symlinkSync(join(outside, "secret"), join(root, "link"));
  symlinkSync(outside, join(root, "folder"));
  for (const path of ["../outside/secret", "link", "folder/secret"]) {
    await expect(files.open(join(root, path))).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    await expect(files.write(join(root, path), "mine")).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  }
  await expect(files.write(join(root, "../outside/new/file"), "x")).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await expect(files.remove(join(root, "folder/secret"))).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  expect(readFileSync(join(outside, "secret"), "utf8")).toBe("secret");
  expect(readdirSync(outside)).toEqual(["secret"]);
});

test("a link that stays inside is followed", async () => {
  writeFileSync(join(root, "real"), "old");
  symlinkSync("real", join(root, "link"));
  await files.write(join(root, "link"), "new");
  expect(readFileSync(join(root, "real"), "utf8")).toBe("new");
});

test("folders, pipes and devices are not opened as files", async () => {
  execFileSync("mkfifo", [join(root, "pipe")]);
  await expect(files.open(root)).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await expect(files.open(join(root, "pipe"))).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await expect(createRootedFiles({ unique: () => "x" }).open("/dev/zero")).rejects.toMatchObject({ code: "INVALID_INPUT" });
});

test("swapping a folder for a link during an access never leads outside", async () => {
  const place = join(root, "place");
  const aside = join(root, "aside");
  mkdirSync(place);
  writeFileSync(join(place, "secret"), "harmless");
  symlinkSync(outside, aside);
  const end = Date.now() + 400;
  const seen = new Set<string>();
  const swap = (): void => {
    const between = join(root, "between");
    renameSync(place, between);
    renameSync(aside, place);
    renameSync(between, aside);
  };
  while (Date.now() < end) {
    const acts = [textOf(join(place, "secret")), files.write(join(place, "secret"), "harmless")];
    swap();
    for (const result of await Promise.allSettled(acts)) if (result.status === "fulfilled" && result.value !== undefined) seen.add(result.value);
    swap();
  }
  expect([...seen].filter((text) => text !== "harmless")).toEqual([]);
  expect(readFileSync(join(outside, "secret"), "utf8")).toBe("secret");
  expect(readdirSync(outside)).toEqual(["secret"]);
});

test("a folder inside is listed, one outside is not, and links are shown as links", async () => {
  mkdirSync(join(root, "sub"));
  writeFileSync(join(root, "file"), "");
  symlinkSync(outside, join(root, "link"));
  await using folder = await files.folder(root);
  const all = [...(await folder.read(2)), ...(await folder.read(2)), ...(await folder.read(2))];
  expect(all.map(({ name, kind }) => `${name} ${kind}`).sort()).toEqual(["file file", "link link", "sub folder"]);
  expect([await folder.kindOf("link"), await folder.kindOf("none")]).toEqual(["link", undefined]);
  await expect(files.folder(join(root, "link"))).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await expect(files.folder(join(root, "file"))).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await expect(files.folder(join(root, "none"))).rejects.toMatchObject({ code: "NOT_FOUND" });
});
