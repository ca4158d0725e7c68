import { expect, test } from "vitest";
import { pendingWork } from "./pending-work.ts";

test("commands that run and questions that are open are kept, one line each", () => {
  const end = { code: 0, signal: null, timedOut: false };
  const lines = pendingWork(
    [
      { id: "mild-glade", command: "make all", end: undefined },
      { id: "cold-creek", command: "true", end },
    ],
    [
      { id: "a1", kind: "exec", request: { command: "rm -r build\n&& make", plan: {} } },
      { id: "a2", kind: "plugin", request: { title: "Send it?", toolName: "message" } },
      { id: "a3", kind: "tool", request: { toolName: "gateway" } },
      { id: "a4", kind: "tool", request: {} },
    ],
  );
  expect(lines).toEqual([
    "background process mild-glade: make all",
    "approval a1 is waited for: rm -r build && make",
    "approval a2 is waited for: Send it?",
    "approval a3 is waited for: gateway",
    "approval a4 is waited for: (not told)",
  ]);
});
