/** `runtime.tools`: the memory tools and the memory command as plugins have them. */
import { Command } from "commander";
import { expect, onTestFinished, test } from "vitest";
import { createIds } from "../../src/base/ids.ts";
import { systemRandom } from "../../src/base/random.ts";
import { memoryParts, type MemoryPartsDeps } from "../../src/plugins/runtime/memory.ts";
import type { AnyAgentTool } from "../../src/protocol/index.ts";
import { memoryFixture } from "../memory/memory-fixture.ts";

type Make = (options: { readonly agentSessionKey?: string }) => AnyAgentTool | null;

async function setup(config: object = {}, over: Partial<MemoryPartsDeps> = {}) {
  const at = await memoryFixture({ config, notes: { "MEMORY.md": "# People\n\nThe plumber is Werner Hopp.\n" } });
  const parts = memoryParts({
    config: at.config,
    store: at.store,
    ids: createIds(systemRandom),
    canonicalKey: (written) => (written.startsWith("agent:") ? written : `agent:main:${written}`),
    agentOf: () => "main",
    memory: () => at.memory,
    ...over,
  });
  const make = (name: "tools.createMemorySearchTool" | "tools.createMemoryGetTool") => parts[name] as unknown as Make;
  return {
    search: make("tools.createMemorySearchTool"),
    get: make("tools.createMemoryGetTool"),
    register: parts["tools.registerMemoryCli"] as unknown as (program: unknown) => void,
  };
}

const textOf = (result: Awaited<ReturnType<AnyAgentTool["execute"]>>): string => JSON.stringify(result.content);

test("a plugin's memory tools are the real ones: they find, cite, read and mark what they quote", async () => {
  const { search, get } = await setup();
  const tool = search({ agentSessionKey: "agent:main:main" })!;
  expect(tool).toMatchObject({ name: "memory_search", label: "Memory Search", parameters: { required: ["query"] } });
  const found = await tool.execute("c1", { query: "who is our plumber", minScore: 0 });
  expect(found.details).toMatchObject({ results: [{ path: "MEMORY.md", citation: "MEMORY.md#L1-L3" }], mode: "fts-only" });
  expect(textOf(found)).toContain("<<<EXTERNAL_UNTRUSTED_CONTENT");
  const read = await get({ agentSessionKey: "agent:main:main" })!.execute("c2", { path: "MEMORY.md", from: 3, lines: 1 });
  expect(read.details).toEqual({ path: "MEMORY.md", text: "The plumber is Werner Hopp." });
});

test("in a group a plugin's tools see no more than ours", async () => {
  const { search, get } = await setup();
  const group = { agentSessionKey: "agent:main:telegram:group:7" };
  expect((await search(group)!.execute("c1", { query: "plumber", minScore: 0 })).details).toMatchObject({ results: [] });
  expect((await get(group)!.execute("c2", { path: "MEMORY.md" })).details).toMatchObject({ disabled: true });
});

test("where there is nothing to search there is no tool; while the gateway starts it says so", async () => {
  expect((await setup({ agents: { defaults: { memorySearch: { enabled: false } } } })).search({})).toBeNull();
  expect((await setup({ plugins: { slots: { memory: "none" } } })).search({})).toBeNull();
  expect((await setup({}, { memory: undefined })).get({})).toBeNull();
  const { search } = await setup({}, { memory: () => undefined });
  await expect(async () => search({})!.execute("c1", { query: "x" })).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("the memory command of a plugin's program passes everything on, once", async () => {
  const before = process.exitCode;
  onTestFinished(() => void (process.exitCode = before));
  const asked: (readonly string[])[] = [];
  const { register } = await setup({}, { memoryCommand: async (args) => asked.push(args) });
  const program = new Command("openclaw").exitOverride();
  register(program);
  register(program);
  expect(program.commands.map((command) => command.name())).toEqual(["memory"]);
  await program.parseAsync(["memory", "search", "the plumber", "--min-score", "0", "--json"], { from: "user" });
  expect(asked).toEqual([["search", "the plumber", "--min-score", "0", "--json"]]);
  expect(process.exitCode).toBe(1);
  expect(() => register({})).toThrow(/takes the program that api\.registerCli received/);
});
