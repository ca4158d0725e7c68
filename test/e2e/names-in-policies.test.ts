import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { makePlace, type Place } from "../harness/gateway-process.ts";

const places: Place[] = [];
afterEach(() => {
  for (const { home } of places.splice(0)) rmSync(home, { recursive: true, force: true });
});

function place(lines: string): Place {
  const made = makePlace();
  places.push(made);
  made.configure(`{\n  gateway: { mode: "local", auth: { token: "a-token-of-this-test-0123456789" } },\n${lines}\n}\n`);
  return made;
}

/** Installs a plugin with one tool. */
function plugin({ stateDir }: Place, id: string, tool: string, manifest: object = {}): void {
  const folder = join(stateDir, "extensions", id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id, configSchema: { type: "object" }, ...manifest }));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: id, version: "1.0.0", type: "module", openclaw: { extensions: ["./index.js"] } }));
  const code = `export default (api) => api.registerTool({ name: "${tool}", description: "", parameters: { type: "object" }, execute: async () => ({ content: [] }) });`;
  writeFileSync(join(folder, "index.js"), code);
}

const TYPOS = '  tools: {\n    deny: ["exce", "group:runtme", "write"],\n    alsoAllow: ["raed"],\n  },';

test("a deny list with names that mean nothing is refused by validate and at the start, with the line and the nearest name, and doctor --fix corrects it", async () => {
  const at = place(TYPOS);
  const validated = at.cli("config", "validate");
  expect(validated.code).toBe(1);
  expect(validated.stdout).toMatch(/error .*openclaw\.json:4:\d+: tools\.deny\.0: .*"exce".*did you mean "exec"\?/);
  expect(validated.stdout).toMatch(/error .*openclaw\.json:4:\d+: tools\.deny\.1: .*did you mean "group:runtime"\?/);
  expect(validated.stdout).toMatch(/warning .*openclaw\.json:5:\d+: tools\.alsoAllow\.0: .*did you mean "read"\?/);
  await using gateway = await at.gateway();
  expect([gateway.url, (await gateway.exited).code]).toEqual([undefined, 1]);
  expect(gateway.output()).toMatch(/openclaw\.json:4:\d+: tools\.deny\.0: .*did you mean "exec"\?/);
  expect(at.cli("doctor", "--json").stdout).toContain("config.names:tools.deny.0");
  at.cli("doctor", "--fix", "--yes");
  expect(readFileSync(at.configPath, "utf8")).toContain('"exec", "group:runtime", "write"');
  expect(at.cli("config", "validate").code).toBe(0);
});

test("a running gateway keeps its configuration when a deny list gets a name that means nothing, and nobody can write one through it", async () => {
  const at = place('  tools: { deny: ["exec"] },');
  await using gateway = await at.gateway();
  expect(gateway.url).toBeDefined();
  at.configure(readFileSync(at.configPath, "utf8").replace('"exec"', '"exce"'));
  await gateway.waitFor(/config reload skipped[^\n]*exce/);
  expect(at.cli("tools", "explain", "exec").stdout + at.cli("call", "tools.explain", "--params", '{"tool":"exec"}').stdout).toContain("tools.deny");
  at.configure(readFileSync(at.configPath, "utf8").replace('"exce"', '"exec"'));
  const set = at.cli("config", "set", "tools.deny", '["exce"]');
  expect([set.code, set.stderr]).toEqual([1, expect.stringContaining('did you mean "exec"?')]);
});

test("tools of plugins are names: by their manifest, or once they are registered", async () => {
  const declared = place('  tools: { deny: ["weather_now", "wether_now"] },');
  plugin(declared, "weather", "weather_now", { contracts: { tools: ["weather_now"] } });
  expect(declared.cli("config", "validate").stdout).toMatch(/error .*tools\.deny\.1: .*did you mean "weather_now"\?/);
  expect(declared.cli("config", "validate").stdout).not.toContain("tools.deny.0");
  await using refused = await declared.gateway();
  expect(refused.url).toBeUndefined();

  const silent = place('  tools: { deny: ["weather_now"] },');
  plugin(silent, "weather", "weather_now");
  const validated = silent.cli("config", "validate");
  expect([validated.code, validated.stdout]).toEqual([0, expect.stringMatching(/warning .*tools\.deny\.0: .*not checked further/)]);
  {
    await using runs = await silent.gateway();
    expect(runs.url).toBeDefined();
    expect(runs.output()).not.toContain("weather_now");
  }
  silent.configure(readFileSync(silent.configPath, "utf8").replace("weather_now", "wether_now"));
  await using wrong = await silent.gateway();
  expect([wrong.url, (await wrong.exited).code]).toEqual([undefined, 1]);
  expect(wrong.output()).toMatch(/openclaw\.json:3:\d+: tools\.deny\.0: .*"wether_now".*did you mean "weather_now"\?/);
});

test("a slip in a deny list is refused although a plugin that is off could have a tool of that name; other names wait for the plugin", async () => {
  const at = place('  plugins: { entries: { weather: { enabled: false } } },\n  tools: { deny: ["exce"] },');
  plugin(at, "weather", "weather_now");
  await using refused = await at.gateway();
  expect([refused.url, (await refused.exited).code]).toEqual([undefined, 1]);
  expect(refused.output()).toMatch(/tools\.deny\.0: .*"exce".*did you mean "exec"\?/);
  at.configure(readFileSync(at.configPath, "utf8").replace('"exce"', '"weather_now"'));
  await using runs = await at.gateway();
  expect(runs.url).toBeDefined();
});
