import { expect, test } from "vitest";
import type { Link } from "../../link/link.ts";
import { canTurn, denyPath, turnTool } from "./tool-switch.ts";

const CONFIG = { agents: { list: [{ id: "main" }, { id: "Work", tools: { deny: ["exec", "group:fs"] } }] }, tools: { deny: ["browser"] } };

test("an agent's tools are denied in its own entry, and in the general list only where it is alone", () => {
  expect([denyPath(CONFIG, "work"), denyPath(CONFIG, "other"), denyPath({}, "main")]).toEqual(["agents.list[1].tools.deny", undefined, "tools.deny"]);
});

test("what another setting denies cannot be turned on with a switch", () => {
  const can = (name: string, allowed: boolean): boolean => canTurn(CONFIG, "work", { name, allowed });
  expect([can("read", true), can("exec", false), can("browser", false), can("write", false)]).toEqual([true, true, false, false]);
});

function gateway(config: unknown): { readonly link: Pick<Link, "request">; readonly asked: unknown[] } {
  const asked: unknown[] = [];
  const request = (method: string, params: unknown): Promise<unknown> => {
    asked.push([method, params]);
    if (method === "config.check") return Promise.resolve({ valid: true, issues: [], reload: { kind: "hot" } });
    return Promise.resolve(method === "config.get" ? { config, hash: "h1" } : { raw: "{}" });
  };
  return { link: { request: request as Link["request"] }, asked };
}

test("turning a tool off adds it once, turning the last one on removes the list", async () => {
  const off = gateway(CONFIG);
  await turnTool(off.link, "work", "read", false);
  expect(off.asked).toContainEqual(["config.edit", { set: [{ path: "agents.list[1].tools.deny", value: ["exec", "group:fs", "read"] }] }]);
  expect(off.asked.at(-1)).toEqual(["config.set", { raw: "{}", baseHash: "h1" }]);
  const on = gateway({ tools: { deny: ["exec"] } });
  await turnTool(on.link, "main", "exec", true);
  expect(on.asked).toContainEqual(["config.edit", { unset: ["tools.deny"] }]);
});
