import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { HOOKS } from "../../src/hooks/index.ts";
import { readInventory } from "../../src/plugins/index.ts";
import { makePlace, ROOT } from "../harness/gateway-process.ts";

const PAGES = ["overview", "manifest", "testing", "publishing", "migrating"];
const read = (page: string): string => readFileSync(join(ROOT, "docs/plugins", `${page}.md`), "utf8");

interface Block {
  readonly language: string;
  readonly text: string;
  /** Named in the first line: `// index.ts`. */
  readonly file?: string;
}

function blocksOf(page: string): Block[] {
  return [...read(page).matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => {
    const file = /^\/\/ (\S+\.ts)\n/.exec(text!)?.[1];
    return { language: language!, text: text!, ...(file === undefined ? {} : { file }) };
  });
}

test("the first plugin of the overview, and its tests in the page about testing, work as they stand there", { timeout: 60_000 }, () => {
  const place = makePlace();
  place.configure("{}\n");
  const bin = join(place.home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "openclaw"), `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "bin/openclaw")}" "$@"\n`, { mode: 0o755 });
  const env = { ...place.env, PATH: [bin, dirname(process.execPath), process.env["PATH"]].join(delimiter) };
  let cwd = place.home;
  let output = "";

  function run(script: string): void {
    const { status, stdout, stderr } = spawnSync("sh", ["-ec", `${script}\nprintf '\\n%s' "$PWD"`], { cwd, env, encoding: "utf8", timeout: 40_000 });
    expect([script, status === 0 ? "" : stdout + stderr]).toEqual([script, ""]);
    cwd = stdout.slice(stdout.lastIndexOf("\n") + 1);
    output += stdout;
  }

  for (const { language, text, file } of blocksOf("overview")) {
    if (language === "sh") run(text);
    if (file !== undefined) writeFileSync(join(cwd, file), text);
    if (language === "json") writeFileSync(join(cwd, "openclaw.plugin.json"), text);
  }
  expect(cwd).toBe(join(realpathSync(place.home), "dice"));
  expect(output).toMatch(/^(?:[1-9]|1\d|20) (?:[1-9]|1\d|20) (?:[1-9]|1\d|20)$/m);
  expect(output).toMatch(/tools +dice_roll\n/);
  for (const { file, text } of blocksOf("testing")) if (file !== undefined) writeFileSync(join(cwd, file), text);
  output = "";
  run("npm test");
  expect(output).toMatch(/pass 6\n/);
});

test("every manifest on the pages is one that is taken without a remark", async () => {
  const shown = PAGES.flatMap((page) => blocksOf(page).filter(({ language }) => language === "json"));
  expect(shown.length).toBeGreaterThan(1);
  for (const { text } of shown) {
    const stateDir = mkdtempSync(join(tmpdir(), "openclaw-docs-"));
    const id = /"id": "([^"]+)"/.exec(text)![1]!;
    const folder = join(stateDir, "extensions", id);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "openclaw.plugin.json"), text);
    writeFileSync(join(folder, "index.js"), "");
    const config = { plugins: { allow: [id], entries: { [id]: { config: { apiKey: "x" } } } } };
    const { entries, diagnostics } = await readInventory({
      config: id === "dice" ? { plugins: { allow: [id] } } : config,
      stateDir,
      env: {},
      home: stateDir,
      cwd: stateDir,
      uid: process.getuid?.(),
    });
    expect([entries.map((entry) => [entry.id, entry.enabled, entry.error]), diagnostics]).toEqual([[[id, true, undefined]], []]);
  }
});

test("the pages say how many hooks there are, and name members that exist", () => {
  const count = Object.keys(HOOKS).length;
  expect(read("overview")).toContain(`at ${count} places`);
  const api = ["host/api.ts", "registry/media-providers.ts"].map((file) => readFileSync(join(ROOT, "src/plugins", file), "utf8")).join("\n");
  const kit = readFileSync(join(ROOT, "src/plugin-testing/types.ts"), "utf8");
  for (const [, member] of PAGES.map(read)
    .join("\n")
    .matchAll(/`api\.(\w+)`/g))
    expect([member, api.includes(`${member}`)]).toEqual([member, true]);
  for (const line of read("testing")
    .split("\n")
    .filter((text) => text.startsWith("| `"))) {
    for (const [, member] of line.split("|")[1]!.matchAll(/`(?:hooks\.)?(\w+)/g))
      expect([member, kit.includes(`${member}`) || member === "createTestHost"]).toEqual([member, true]);
  }
});
