import { expect, test } from "vitest";
import { execTool } from "../exec/exec.ts";
import { processTool } from "../process/process.ts";
import type { Tool } from "../tool.ts";
import { editTool } from "./files/edit.ts";
import { readTool } from "./files/read.ts";
import { writeTool } from "./files/write.ts";
import { imageTool } from "./image/image.ts";
import { applyPatchTool } from "./patch/apply-patch.ts";
import { findTool } from "./search/find.ts";
import { grepTool } from "./search/grep.ts";
import { lsTool } from "./search/ls.ts";
import { agentsListTool } from "./session/agents-list.ts";
import { sessionStatusTool } from "./session/session-status.ts";
import { sessionsHistoryTool } from "./session/sessions-history.ts";
import { sessionsListTool } from "./session/sessions-list.ts";
import { sessionsSendTool } from "./session/sessions-send.ts";
import { createWebTools } from "./web/web-tools.ts";

/** A declaration needs nothing of the world. */
const NOTHING = new Proxy({}, { get: () => () => ({}) }) as never;

test("tools that only read run side by side; those that change something, and commands, keep the order of the answer", () => {
  const made: readonly Tool[] = [
    ...[readTool, writeTool, editTool, applyPatchTool, grepTool, findTool, lsTool, imageTool, execTool, processTool].map((make) => make(NOTHING)),
    ...[agentsListTool, sessionStatusTool, sessionsHistoryTool, sessionsListTool].map((make) => make(NOTHING)),
    sessionsSendTool(NOTHING, NOTHING),
    ...createWebTools({ ...(NOTHING as object), config: () => ({}), secret: () => "key" } as never)(),
  ];
  const named = (mode: "parallel" | "sequential"): readonly string[] =>
    made.filter(({ executionMode = "sequential" }) => executionMode === mode).map(({ name }) => name);
  expect([...named("parallel")].sort()).toEqual([
    "agents_list",
    "find",
    "grep",
    "image",
    "ls",
    "read",
    "sessions_history",
    "sessions_list",
    "web_fetch",
    "web_search",
  ]);
  expect([...named("sequential")].sort()).toEqual(["apply_patch", "edit", "exec", "process", "session_status", "sessions_send", "write"]);
});
