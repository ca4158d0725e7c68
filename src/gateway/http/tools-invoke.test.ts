import { expect, test } from "vitest";
import { canonicalTool, isToolAllowed } from "./tools-invoke.ts";

const KNOWN =
  "agents_list apply_patch browser canvas cron edit exec gateway image memory_get memory_search message nodes process read session_status sessions_history sessions_list sessions_send sessions_spawn tts web_fetch web_search whatsapp_login write".split(
    " ",
  );

test("tools that reach further than their caller are refused over HTTP by default", () => {
  const refused = KNOWN.filter((tool) => !isToolAllowed(tool, {}));
  expect(refused.join(" ")).toBe("apply_patch edit exec gateway nodes process read sessions_send sessions_spawn whatsapp_login write");
});

test("the configuration opens what is refused by default, but never programs and files; its own deny list wins", () => {
  const gateway = { tools: { allow: ["sessions_spawn", "Exec", "write", "gateway"], deny: ["gateway", " BROWSER "] } };
  expect(["sessions_spawn", "exec", "write", "gateway", "browser", "message"].map((tool) => isToolAllowed(tool, { gateway }))).toEqual([
    true,
    false,
    false,
    false,
    false,
    true,
  ]);
});

test("a tool has one spelling for check and call", () => {
  expect(["exec", " EXEC ", "bash", "Shell", "apply-patch"].map(canonicalTool)).toEqual(["exec", "exec", "exec", "exec", "apply_patch"]);
  expect(["", "a b", "../exec", "exec\0", "a/b", "x".repeat(65)].map(canonicalTool)).toEqual(Array.from({ length: 6 }, () => undefined));
});
