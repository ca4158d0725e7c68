import { expect, test } from "vitest";
import { lacks, linesOf, skillState, verdictsIn, type Skill } from "./agent-facts.ts";

const nothing: Skill["missing"] = { bins: [], anyBins: [], env: [], config: [], os: [] };

test("agents are shown with their own model and workspace, or the defaults, the default agent first", () => {
  const config = { agents: { defaults: { model: { primary: "mock/m1" }, workspace: "/w" }, list: [{ id: "Ops", model: "mock/m2", workspace: "/ops" }] } };
  const found = linesOf(
    { defaultId: "main", agents: [{ id: "ops", identity: { name: "Night watch", emoji: "🦉", avatar: "owl.png" } }, { id: "main" }] },
    config,
  );
  expect(found).toEqual([
    { id: "main", name: "main", emoji: "", avatar: "", isDefault: true, model: "mock/m1", workspace: "/w" },
    { id: "ops", name: "Night watch", emoji: "🦉", avatar: "owl.png", isDefault: false, model: "mock/m2", workspace: "/ops" },
  ]);
});

test("without a configuration that may be read agents are shown all the same", () => {
  expect(linesOf({ defaultId: "main", agents: [{ id: "main", name: "Main" }] }, undefined)[0]).toMatchObject({ name: "Main", model: "", workspace: "" });
});

test("what a skill lacks is said in words", () => {
  expect(lacks({ missing: { ...nothing, bins: ["gh"], anyBins: ["a", "b"], env: ["KEY"] }, blockedByAllowlist: true })).toEqual([
    "program gh",
    "one of the programs a, b",
    "variable KEY",
    "an entry in the skill allowlist",
  ]);
});

test("a skill is on only when it lacks nothing", () => {
  const skill = { disabled: false, eligible: true, missing: nothing, blockedByAllowlist: false };
  expect([
    skillState(skill),
    skillState({ ...skill, disabled: true }),
    skillState({ ...skill, eligible: false }),
    skillState({ ...skill, blockedByAllowlist: true }),
  ]).toEqual(["on", "off", "incomplete", "incomplete"]);
});

test("allowed tools stand before denied ones and are found by what decided", () => {
  const tools = [
    { name: "exec", allowed: false, why: "denied by tools.deny", source: "core" },
    { name: "write", allowed: true, why: "nothing forbids it", source: "core" },
    { name: "read", allowed: true, why: "nothing forbids it", source: "core" },
  ];
  expect(verdictsIn(tools, "").map(({ name }) => name)).toEqual(["read", "write", "exec"]);
  expect(verdictsIn(tools, "DENY").map(({ name }) => name)).toEqual(["exec"]);
});
