import { expect, test } from "vitest";
import { BUILTIN_TOOLS } from "../catalog.ts";

/** A declaration needs nothing of the world. */
const NOTHING = new Proxy({}, { get: () => () => ({}) }) as never;

test("tools that only read run side by side; those that change something, and commands, keep the order of the answer", () => {
  const made = BUILTIN_TOOLS.map((tool) => tool.create(NOTHING));
  const named = (mode: "parallel" | "sequential"): readonly string[] =>
    made.filter(({ executionMode = "sequential" }) => executionMode === mode).map(({ name }) => name);
  expect([...named("parallel")].sort()).toEqual([
    "agents_list",
    "find",
    "grep",
    "image",
    "ls",
    "memory_get",
    "memory_search",
    "read",
    "sessions_history",
    "sessions_list",
    "skills_search",
    "web_fetch",
    "web_search",
  ]);
  expect([...named("sequential")].sort()).toEqual([
    "apply_patch",
    "edit",
    "exec",
    "image_generate",
    "process",
    "session_status",
    "sessions_send",
    "tts",
    "write",
  ]);
});
