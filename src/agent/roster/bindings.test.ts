import { expect, test } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import { beatenBy, describeBinding, planBindings, positionsOf } from "./bindings.ts";

const CONFIG: OpenClawConfig = {
  agents: { list: [{ id: "main" }, { id: "work" }, { id: "family" }] },
  bindings: [
    { agentId: "family", match: { channel: "telegram", peer: { kind: "group", id: "-100" } } },
    { agentId: "Work", match: { channel: "telegram", accountId: "office" } },
    { agentId: "work", match: { channel: "discord", guildId: "9", roles: ["1", "2"] } },
  ],
};

test("a binding is described by its channel and what else it names", () => {
  expect(CONFIG.bindings?.map(describeBinding)).toEqual(["telegram peer=group:-100", "telegram accountId=office", "discord guildId=9 roles=1,2"]);
});

test("what the agent has already is skipped, what another one has is a conflict, the rest is added", () => {
  const plan = planBindings(CONFIG, "work", [
    { channel: "telegram", accountId: "OFFICE" },
    { channel: "telegram", peer: { kind: "group", id: "-100" }, accountId: "default" },
    { channel: "discord", guildId: "9", roles: ["2", "1"] },
    { channel: "telegram" },
    { channel: "telegram", accountId: "default" },
  ]);
  expect(plan.added).toEqual(["telegram"]);
  expect(plan.skipped).toEqual(["telegram accountId=OFFICE", "discord guildId=9 roles=2,1", "telegram accountId=default"]);
  expect(plan.conflicts).toEqual([{ binding: "telegram accountId=default peer=group:-100", agentId: "family", path: "bindings[0]" }]);
});

test("an agent's bindings are found by what they match, or all of them", () => {
  expect(positionsOf(CONFIG, "work")).toEqual([1, 2]);
  expect(positionsOf(CONFIG, "work", [{ channel: "telegram", accountId: "office" }])).toEqual([1]);
  expect(positionsOf(CONFIG, "work", [{ channel: "telegram" }])).toEqual([]);
});

test("a binding that never decides is explained as the route is", () => {
  const any = { agentId: "work", match: { channel: "telegram", accountId: "*" } };
  const one = { agentId: "main", match: { channel: "telegram" } };
  expect(beatenBy({ ...CONFIG, bindings: [one, any] }, any)).toEqual(["bindings[0] is more specific: such messages go to main"]);
  expect(beatenBy({ ...CONFIG, bindings: [any] }, any)).toEqual([]);
});
