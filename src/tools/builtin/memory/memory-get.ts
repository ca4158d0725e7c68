import { messageOf } from "../../../base/errors.ts";
import { defineTool } from "../../declaration.ts";
import { groupOfKey } from "../../policy/group.ts";
import { jsonOutcome } from "../../tool.ts";
import { absentMemory } from "./absence.ts";
import type { MemorySearchDeps } from "./memory-search.ts";

const MAX_CHARS = 40_000;

const wholeNumber = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) ? Math.max(1, Math.floor(value)) : undefined);

/** Lines of a note. */
export const memoryGetTool = defineTool<MemorySearchDeps>({
  name: "memory_get",
  groups: ["memory", "openclaw"],
  reach: { reads: "both" },
  promptLine: "read lines of your notes",
  icon: "🧠",
  subagents: "never",
  fromPlugin: true,
  absence: absentMemory,
  label: "Memory Get",
  description: "Read lines of MEMORY.md or a file in memory/ that memory_search named. Take only the lines you need.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "As returned by memory_search" },
      from: { type: "number", minimum: 1, description: "First line, counted from 1" },
      lines: { type: "number", minimum: 1 },
    },
    required: ["path"],
  },
  idempotent: true,
  executionMode: "parallel",
  run:
    (deps) =>
    async ({ params, context }) => {
      const path = typeof params["path"] === "string" ? params["path"] : "";
      const { agentId, sessionKey } = context;
      if (groupOfKey(sessionKey) && deps.memory.settings(agentId).inGroups === "own") {
        return jsonOutcome({ path, text: "", disabled: true, error: 'notes are not read in groups; the owner can set memorySearch.inGroups to "all"' });
      }
      try {
        const { path: cited, text } = await deps.memory.read(agentId, { path, from: wholeNumber(params["from"]), lines: wholeNumber(params["lines"]) });
        const cut = text.length > MAX_CHARS;
        const value = { path: cited, text: cut ? text.slice(0, MAX_CHARS).toWellFormed() : text, ...(cut ? { truncated: true } : {}) };
        return { ...jsonOutcome(value), content: [{ type: "text", text: deps.mark(JSON.stringify(value, null, 2), { source: "memory_get" }) }] };
      } catch (error) {
        return jsonOutcome({ path, text: "", disabled: true, error: messageOf(error) });
      }
    },
});
