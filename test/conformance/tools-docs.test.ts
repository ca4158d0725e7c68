import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tools } from "../../src/cli/commands/groups.ts";
import { loadConfig } from "../../src/config/index.ts";
import { LOOP_DEFAULTS } from "../../src/tools/loop-guard/settings.ts";
import { policyLayers } from "../../src/tools/policy/layers.ts";
import { CORE_TOOLS, GROUPS, PROFILES } from "../../src/tools/catalog.ts";
import { openCommandLine } from "../harness/command-line.ts";
import { readPage, ticked } from "../harness/docs-page.ts";

const { blocks, examples, rowsOf } = readPage("docs/agent/tools.md");

function run({ config = null, line }: { readonly config?: string | null | undefined; readonly line: string }) {
  const [program, name, ...args] = line.split(" ");
  expect([program, name]).toEqual(["openclaw", "tools"]);
  return openCommandLine("tools", tools, { config }).run(...args);
}

describe("every command of the page about tools", () => {
  test("is one of some", () => expect(examples.filter(({ output }) => output !== undefined).length).toBeGreaterThanOrEqual(3));
  test.each(examples)("$line prints what stands below it", async (example) => {
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
