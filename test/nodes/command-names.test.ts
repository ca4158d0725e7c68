import { expect, test } from "vitest";
import { NODE_COMMANDS } from "../../src/config/validate/known-names.ts";
import { allowedCommands, READ_ONLY } from "../../src/nodes/commands.ts";

test("each command that a platform allows is a known name, so that a slip in a deny list is found", () => {
  for (const platform of ["ios", "android", "macos", "linux", "windows", undefined])
    for (const command of allowedCommands(platform, {})) expect(NODE_COMMANDS, `${platform}: ${command}`).toContain(command);
  for (const command of READ_ONLY) expect(NODE_COMMANDS).toContain(command);
});
