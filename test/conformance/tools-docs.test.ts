import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tools } from "../../src/cli/commands/tools/index.ts";
import { dispatch } from "../../src/cli/dispatch.ts";
import type { Io } from "../../src/cli/io.ts";
import { loadConfig } from "../../src/config/index.ts";
import { LOOP_DEFAULTS } from "../../src/tools/loop-guard/settings.ts";
import { policyLayers } from "../../src/tools/policy/layers.ts";
import { CORE_TOOLS, GROUPS, PROFILES } from "../../src/tools/policy/names.ts";
import { ROOT } from "../harness/gateway-process.ts";

const page = readFileSync(join(ROOT, "docs/agent/tools.md"), "utf8");
const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({ language: language!, text: text! }));
const ticked = (text: string): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);

/** The rows of the table under this header, cell by cell. */
function rowsOf(header: string): readonly (readonly string[])[] {
  const lines = page.split("\n");
  const rows = lines.slice(lines.indexOf(header) + 2);
  return rows.slice(0, rows.indexOf("")).map((line) => line.split("|").slice(1, -1));
}

interface Example {
  readonly config: string | undefined;
  readonly line: string;
  /** What it prints; undefined where the page does not show it. */
  readonly output: string | undefined;
}

/** Each command with the configuration that stands above it and the output that stands below it. */
function examples(): readonly Example[] {
  let config: string | undefined;
  return blocks.flatMap(({ language, text }, at) => {
    if (language === "json5") config = text;
    if (language !== "sh") return [];
    const next = blocks[at + 1];
    const output = next?.language === "text" ? next.text : undefined;
    return text
      .trim()
      .split("\n")
      .map((line) => ({ config, line, output }));
  });
}

async function run({ config, line }: Example): Promise<{ readonly code: number; readonly out: string }> {
  const home = mkdtempSync(join(tmpdir(), "tools-docs-"));
  const path = join(home, "openclaw.json");
  if (config !== undefined) writeFileSync(path, config);
  let out = "";
  const io: Io = {
    env: { HOME: home, OPENCLAW_STATE_DIR: join(home, "state"), OPENCLAW_CONFIG_PATH: path },
    cwd: home,
    version: "9.9.9",
    out: (text) => void (out += text),
    err: () => undefined,
    color: false,
    interactive: false,
    columns: 160,
    now: () => 0,
    confirm: () => Promise.resolve(false),
    signal: () => new AbortController().signal,
  };
  const [program, ...args] = line.split(" ");
  expect(program).toBe("openclaw");
  const code = await dispatch([{ name: "tools", summary: "", load: () => Promise.resolve(tools) }], args, io);
  return { code, out };
}

describe("every command of the page about tools", () => {
  const all = examples();
  test("is one of some", () => expect(all.filter(({ output }) => output !== undefined).length).toBeGreaterThanOrEqual(3));
  test.each(all)("$line prints what stands below it", async (example) => {
    const { code, out } = await run(example);
    expect(code).toBe(0);
    expect(out).not.toBe("");
    if (example.output !== undefined) expect(out).toBe(example.output);
  });
});

test("the table of tools has every tool with its groups", () => {
  const shown = rowsOf("| tools | what they do | groups |").flatMap(([names, , groups]) => ticked(names!).map((name) => [name, ticked(groups!)] as const));
  const known = [...CORE_TOOLS, ...GROUPS["group:memory"]!];
  expect(shown.map(([name]) => name).sort()).toEqual([...known].sort());
  for (const [name, groups] of shown) expect([name, groups]).toEqual([name, Object.keys(GROUPS).filter((group) => GROUPS[group]!.includes(name))]);
});

test("the table of profiles says what they allow", () => {
  const shown = rowsOf("| profile | tools |").map(([name, list]) => [ticked(name!)[0], list!.includes("no opinion") ? undefined : ticked(list!)]);
  expect(shown).toEqual(Object.entries(PROFILES));
});

test("the layers stand in their order", () => {
  const rule = { profile: "minimal" as const, deny: ["x"] };
  const config = { tools: { ...rule, byProvider: { p: rule } }, agents: { list: [{ id: "main", tools: { ...rule, byProvider: { p: rule } } }] } };
  const group = { at: "", deny: ["x"] };
  const layers = policyLayers({ config, agentId: "main", provider: "p", group, sandboxed: true, subagent: { depth: 1, maxDepth: 1 } });
  expect(rowsOf("| layer | where it stands |").map(([name]) => ticked(name!)[0])).toEqual(layers.map(({ name }) => name));
});

test("the numbers of loop detection are the defaults", () => {
  const folder = mkdtempSync(join(tmpdir(), "tools-docs-"));
  const path = join(folder, "openclaw.json");
  writeFileSync(path, blocks.find(({ text }) => text.includes("loopDetection"))!.text);
  const { snapshot } = loadConfig({ path, env: {}, osHome: folder, cwd: folder });
  expect(snapshot.config.tools?.loopDetection).toEqual({ ...LOOP_DEFAULTS, enabled: true });
});
