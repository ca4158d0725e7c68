import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { saveMedia } from "./saved.ts";

const UUID = "11111111-2222-3333-4444-555555555555";
const ids = { uuid: () => UUID } as Parameters<typeof saveMedia>[1]["ids"];

function folder(): string {
  const stateDir = mkdtempSync(join(tmpdir(), "saved-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  return stateDir;
}

test("a stored file has the ending of its content, is readable by its owner only, and nothing else is left", async () => {
  const stateDir = folder();
  const buffer = Buffer.from("<html>sign in</html>");
  const saved = await saveMedia({ buffer, contentType: "image/png", originalFilename: "../my cat.png" }, { stateDir, ids });
  expect(saved).toMatchObject({ id: `my_cat---${UUID}.txt`, size: buffer.length, contentType: "text/plain" });
  expect(readFileSync(saved.path)).toEqual(buffer);
  expect(statSync(saved.path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(stateDir, "media", "inbound"))).toEqual([saved.id]);
});

test("a write that fails leaves nothing under the name", async () => {
  const stateDir = folder();
  const target = join(stateDir, "media", "inbound", `${UUID}.txt`);
  mkdirSync(join(target, "in the way"), { recursive: true });
  writeFileSync(join(target, "in the way", "file"), "");
  await expect(saveMedia({ buffer: Buffer.from("words") }, { stateDir, ids })).rejects.toThrow("could not save media");
  expect(readdirSync(join(stateDir, "media", "inbound"))).toEqual([`${UUID}.txt`]);
});
