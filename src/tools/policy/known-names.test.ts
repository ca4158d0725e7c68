import { expect, test } from "vitest";
import { BUILTIN_TOOL_NAMES, hasUnexplainedNames } from "../../config/index.ts";
import { SANDBOX_ALLOW, SANDBOX_DENY } from "./layers.ts";
import { CORE_TOOLS, GROUPS, PROFILES, toolName } from "../catalog.ts";

test("every tool, group and default of ours is a name that the check of the configuration knows", () => {
  const names = [...CORE_TOOLS, ...Object.keys(GROUPS), ...Object.values(GROUPS).flat(), ...Object.values(PROFILES).flatMap((list) => list ?? [])];
  for (const name of [...names, ...SANDBOX_ALLOW, ...SANDBOX_DENY]) expect(hasUnexplainedNames({ tools: { deny: [name] } }), name).toBe(false);
});

test("the names that plugins may not take are those of the built-in tools, in every spelling", () => {
  expect(new Set([...BUILTIN_TOOL_NAMES].map(toolName))).toEqual(new Set(CORE_TOOLS));
  for (const name of CORE_TOOLS) expect(BUILTIN_TOOL_NAMES.has(name), name).toBe(true);
});
