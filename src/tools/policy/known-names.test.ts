import { expect, test } from "vitest";
import { hasUnexplainedNames } from "../../config/index.ts";
import { SANDBOX_ALLOW, SANDBOX_DENY } from "./layers.ts";
import { CORE_TOOLS, GROUPS, PROFILES } from "./names.ts";

test("every tool, group and default of ours is a name that the check of the configuration knows", () => {
  const names = [...CORE_TOOLS, ...Object.keys(GROUPS), ...Object.values(GROUPS).flat(), ...Object.values(PROFILES).flatMap((list) => list ?? [])];
  for (const name of [...names, ...SANDBOX_ALLOW, ...SANDBOX_DENY]) expect(hasUnexplainedNames({ tools: { deny: [name] } }), name).toBe(false);
});
