import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { silentLogger } from "../base/log/logger.ts";
import { createToolPolicies, type ToolPolicy } from "./index.ts";

const installed = (pluginId: string, ...declared: string[]) => ({ pluginId, bundled: false, enabledExplicitly: true, declared });
const bundled = (pluginId: string) => ({ pluginId, bundled: true, enabledExplicitly: false, declared: [] });
const call = { toolName: "exec", params: { command: "ls" } };
const ctx = { toolName: "exec" };

function setUp() {
  const clock = manualClock();
  return { clock, policies: createToolPolicies({ clock, log: silentLogger }) };
}
const policy = (id: string, evaluate: ToolPolicy["evaluate"], matcher?: readonly string[]): ToolPolicy => ({ id, evaluate, ...(matcher ? { matcher } : {}) });

test("without policies the result is synchronous", () => {
  expect(setUp().policies.evaluate(call, ctx)).toBeUndefined();
});

test("bundled policies come first, then installed ones in the order of loading", async () => {
  const { policies } = setUp();
  const order: string[] = [];
  const note = (id: string) => policy("same", () => (order.push(id), undefined));
  policies.register(note("x"), installed("x", "same"));
  policies.register(note("core"), bundled("core"));
  policies.register(note("y"), installed("y", "same"));
  expect(await policies.evaluate(call, ctx)).toBeUndefined();
  expect(order).toEqual(["core", "x", "y"]);
});

test("a policy blocks with either shape of a decision, and may rewrite or request approval", async () => {
  const { policies } = setUp();
  const first = policies.register(
    policy("p", () => ({ allow: false, reason: "not here" })),
    bundled("core"),
  );
  expect(await policies.evaluate(call, ctx)).toEqual({ block: true, blockReason: "not here", decidedBy: "core" });
  first[Symbol.dispose]();
  policies.register(
    policy("p", () => ({ allow: true })),
    bundled("core"),
  );
  policies.register(
    policy("q", () => ({ params: { cwd: "/" }, requireApproval: { title: "t", description: "d" } })),
    bundled("core"),
  );
  expect(await policies.evaluate(call, ctx)).toMatchObject({ params: { command: "ls", cwd: "/" }, requireApproval: { pluginId: "core" } });
  policies.register(
    policy("r", () => ({ block: true })),
    bundled("late"),
  );
  expect(await policies.evaluate(call, ctx)).toMatchObject({ block: true, decidedBy: "late" });
});

test.each<[string, ToolPolicy["evaluate"]]>([
  ["throws", () => Promise.reject(new Error("boom"))],
  ["never answers", () => new Promise(() => {})],
  ["answers with nonsense", () => "yes" as never],
  ["answers with a field of the wrong type", () => ({ block: "yes" }) as never],
  ["is not clear about allowing", () => ({ allow: "maybe" }) as never],
])("a policy that %s blocks", async (_, evaluate) => {
  const { policies, clock } = setUp();
  policies.register(policy("p", evaluate), bundled("core"));
  const running = policies.evaluate(call, ctx);
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
  clock.advance(15_010);
  expect(await running).toMatchObject({ block: true, decidedBy: "core" });
});

test("a policy is evaluated only for the tools it names", async () => {
  const { policies } = setUp();
  policies.register(
    policy("p", () => ({ allow: false }), ["write"]),
    bundled("core"),
  );
  expect(await policies.evaluate(call, ctx)).toBeUndefined();
  expect(await policies.evaluate({ toolName: "write", params: {} }, { toolName: "write" })).toMatchObject({ block: true });
});

test("an installed plugin needs to be enabled by name and to declare the policy", () => {
  const { policies } = setUp();
  const add = (over: object) => () =>
    policies.register(
      policy("p", () => undefined),
      { ...installed("x", "p"), ...over },
    );
  expect(add({ enabledExplicitly: false })).toThrow(
    expect.objectContaining({ code: "PERMISSION_DENIED", message: expect.stringContaining("plugins.entries.x.enabled") }),
  );
  expect(add({ declared: ["other"] })).toThrow(
    expect.objectContaining({ code: "PERMISSION_DENIED", message: expect.stringContaining("contracts.trustedToolPolicies") }),
  );
  add({})();
  expect(add({})).toThrow(expect.objectContaining({ code: "CONFLICT" }));
  expect(() => policies.register({ id: "", evaluate: () => undefined }, bundled("core"))).toThrow("expected { id, evaluate }");
});

test("the policy from the documentation works", async () => {
  const page = readFileSync(new URL("../../docs/plugins/manifest.md", import.meta.url), "utf8");
  const code = /^```js\n([\s\S]*?registerTrustedToolPolicy[\s\S]*?)^```$/m.exec(page)![1]!;
  const plugin = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as { default: { id: string; register(api: unknown): void } };
  const declared = (JSON.parse(/"trustedToolPolicies": (\[[^\]]*\])/.exec(code)![1]!) as string[]) ?? [];
  const { policies } = setUp();
  plugin.default.register({ registerTrustedToolPolicy: (one: ToolPolicy) => policies.register(one, installed(plugin.default.id, ...declared)) });
  const deploy = { toolName: "exec", params: { command: "deploy production" } };
  expect(await policies.evaluate(deploy, ctx)).toMatchObject({ block: true, blockReason: "deployments are started by people" });
  expect(await policies.evaluate(call, ctx)).toBeUndefined();
  expect(policies.evaluate({ toolName: "read", params: {} }, { toolName: "read" })).toBeUndefined();
});
