import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { answerProxy } from "./proxy.ts";
import type { BrowserRequest } from "./routes.ts";

test("a profile that is not shared is refused in each form that a route takes its name in", async () => {
  const asked: BrowserRequest[] = [];
  const request = async (one: BrowserRequest) => (asked.push(one), {});
  const answer = (params: object) =>
    answerProxy({ method: "POST", path: "/start", ...params }, new AbortController().signal, {
      request,
      stateDir: "/nowhere",
      settings: () => ({ allowProfiles: ["openclaw"] }),
      defaultProfile: async () => "openclaw",
    });
  for (const params of [{ profile: "5" }, { query: { profile: 5 } }, { body: { profile: 5 } }, { query: { profile: "openclaw" }, body: { profile: " 5 " } }])
    await expect(answer(params), JSON.stringify(params)).rejects.toThrow("does not share the browser profile 5");
  expect(asked).toEqual([]);
  await answer({ query: { profile: " openclaw " } });
  await answer({});
  expect(asked.map(({ query }) => query["profile"])).toEqual(["openclaw", undefined]);
});

test("only regular files of the browser's own folder leave a node, whatever lies under their names", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "openclaw-browser-proxy-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const folder = join(stateDir, "media", "browser");
  mkdirSync(folder, { recursive: true });
  const answer = async (path: string) =>
    answerProxy({ method: "POST", path: "/download" }, new AbortController().signal, {
      request: async () => ({ path }),
      stateDir,
      settings: () => ({}),
      defaultProfile: async () => "openclaw",
    });
  writeFileSync(join(folder, "a.txt"), "words");
  expect((await answer(join(folder, "a.txt"))).files).toMatchObject([{ base64: Buffer.from("words").toString("base64") }]);
  writeFileSync(join(stateDir, "openclaw.json"), "secret");
  symlinkSync(join(stateDir, "openclaw.json"), join(folder, "link.txt"));
  spawnSync("mkfifo", [join(folder, "pipe")]);
  for (const path of [join(folder, "link.txt"), join(folder, "pipe"), `${folder}/../../openclaw.json`, join(folder, "none")])
    await expect(answer(path), path).rejects.toThrow("is missing, or outside its folder");
  expect((await answer(join(stateDir, "openclaw.json"))).files ?? []).toEqual([]);
});
