import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { messageOf } from "../../src/base/errors.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createOfflineModel, OFFLINE_MODEL } from "../../src/models/offline/index.ts";
import type { AssistantMessage, ModelMessage } from "../../src/protocol/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { createApprovals } from "../../src/tools/approvals/approvals.ts";
import { editTool } from "../../src/tools/builtin/files/edit.ts";
import { readTool } from "../../src/tools/builtin/files/read.ts";
import { writeTool } from "../../src/tools/builtin/files/write.ts";
import { execTool } from "../../src/tools/exec/exec.ts";
import { createRemembered } from "../../src/tools/exec/remember/remembered.ts";
import { createExecRules } from "../../src/tools/exec/rules-file.ts";
import { execSettings } from "../../src/tools/exec/settings.ts";
import { createProcesses } from "../../src/tools/process/processes.ts";
import { failedOutcome, jsonOutcome, type Tool, type ToolContext, type ToolOutcome } from "../../src/tools/tool.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
const clock = manualClock(NOW);
const ids = createIds(systemRandom);
let home: string;
let workspace: string;
let store: Store;
let tools: readonly Tool[];
const jobs: unknown[] = [];

/** The documented interface of a tool whose module comes later. */
const documented = (
  name: string,
  properties: Record<string, unknown>,
  required: readonly string[],
  run: (params: Readonly<Record<string, unknown>>) => unknown,
): Tool => ({
  name,
  description: name,
  parameters: { type: "object", properties, required },
  source: { kind: "core" },
  run: async ({ params }) => jsonOutcome(run(params)),
});

beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-offline-tools-")));
  workspace = join(home, "workspace");
  mkdirSync(workspace);
  store = await openStore({ stateDir: join(home, "state"), clock });
  const files = { ids, workspaceOnly: () => false, home };
  const text = { type: "string" };
  tools = [
    readTool.create(files),
    editTool.create(files),
    writeTool.create(files),
    execTool.create({
      clock,
      log: silentLogger,
      processes: createProcesses({ clock, random: systemRandom }),
      approvals: createApprovals({ store, clock, ids, notify: () => undefined }),
      rules: createExecRules({ path: join(home, "exec-approvals.json"), clock, ids, random: systemRandom }),
      remembered: createRemembered({ store, clock, ids }),
      settings: ({ agentId }) => execSettings({ tools: { exec: { host: "gateway", security: "full", ask: "off" } } }, agentId),
      env: { PATH: process.env["PATH"], SHELL: "/bin/sh" },
      home,
      ignoreCase: false,
      sandboxed: () => false,
      canBackground: () => true,
      elevation: () => ({ permitted: false, reason: "" }),
      announce: () => undefined,
    }),
    documented(
      "cron",
      { action: { ...text, enum: ["status", "list", "add", "update", "remove", "run", "runs", "wake"] }, job: { type: "object" } },
      ["action"],
      (params) => {
        if (params["action"] === "add") jobs.push(params["job"]);
        return params["action"] === "list" ? { jobs } : { id: "job-1" };
      },
    ),
    documented("memory_search", { query: text, maxResults: { type: "number" }, minScore: { type: "number" } }, ["query"], () => ({
      results: [{ path: "memory/door.md", startLine: 1, endLine: 1, score: 0.9, snippet: "the door code is 4711", source: "memory" }],
    })),
    documented("memory_get", { path: text, from: { type: "number" }, lines: { type: "number" } }, ["path"], ({ path }) => ({
      path,
      text: "- the door code is 4711 (noted 2026-11-15)",
    })),
  ];
});
afterAll(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

const MOST_CALLS = 5;
const context = (): ToolContext => ({ agentId: "main", sessionKey: "agent:main:main", sessionId: "s", runId: "r", workspaceDir: workspace, owner: true });
const wordsOf = ({ content }: Pick<AssistantMessage, "content">): string => content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");

/** The whole conversation that one message causes: the model asks, tools really do it, the model answers. */
async function converse(words: string): Promise<{ readonly called: readonly string[]; readonly outcomes: readonly ToolOutcome[]; readonly answer: string }> {
  const model = createOfflineModel();
  const messages: ModelMessage[] = [{ role: "user", content: words, timestamp: NOW }];
  const called: string[] = [];
  const outcomes: ToolOutcome[] = [];
  for (let turn = 0; turn < MOST_CALLS; turn += 1) {
    const events = await Array.fromAsync(model.stream({ model: OFFLINE_MODEL, messages, tools, thinking: "off" }, { clock, headersMs: 1, progressMs: 1 }));
    const last = events.at(-1);
    if (last?.type !== "end") throw new Error("the response did not finish");
    messages.push(last.message);
    const calls = last.message.content.filter((part) => part.type === "toolCall");
    if (calls.length === 0) return { called, outcomes, answer: wordsOf(last.message) };
    for (const { id, name, arguments: params } of calls) {
      called.push(name);
      const running = tools
        .find((tool) => tool.name === name)!
        .run({ id, params, signal: new AbortController().signal, update: () => undefined, context: context() });
      // As the broker has it: what is thrown is an answer in words.
      const outcome = await running.catch((error: unknown) => failedOutcome(messageOf(error)));
      outcomes.push(outcome);
      messages.push({ role: "toolResult", toolCallId: id, toolName: name, content: [...outcome.content], isError: outcome.isError, timestamp: NOW });
    }
  }
  throw new Error("it went on calling tools");
}

describe("a plain request is carried out with the real tools, and its outcome is reported", () => {
  test("a file is written, read, changed and read again", async () => {
    expect(await converse('write "buy milk" to todo.md')).toMatchObject({
      called: ["write"],
      outcomes: [{ isError: false }],
      answer: expect.stringContaining("todo.md"),
    });
    expect(readFileSync(join(workspace, "todo.md"), "utf8")).toBe("buy milk\n");
    expect(await converse("read todo.md")).toMatchObject({ called: ["read"], answer: expect.stringContaining("buy milk") });
    expect(await converse('replace "milk" with "tea" in todo.md')).toMatchObject({ called: ["edit"], outcomes: [{ isError: false }] });
    expect(readFileSync(join(workspace, "todo.md"), "utf8")).toBe("buy tea\n");
  });

  test("a command runs in the workspace and its output is shown", async () => {
    writeFileSync(join(workspace, "here.txt"), "");
    expect(await converse("run echo $((6 * 7))")).toMatchObject({ called: ["exec"], answer: expect.stringContaining("42") });
    expect((await converse("list the files")).answer).toContain("here.txt");
  });

  test("what fails is reported as a failure, with the tool's text", async () => {
    const { outcomes, answer } = await converse("read no-such-file.md");
    expect([outcomes[0]?.isError, /failed/.test(answer), answer.includes("no-such-file.md")]).toEqual([true, true, true]);
  });

  test("a note is kept in a file of the memory folder; what was noted is looked up and read", async () => {
    const { called, answer } = await converse("remember that the door code is 4711");
    expect([called, answer]).toEqual([["write"], expect.stringMatching(/^Noted in `memory\/.+\.md`\.$/)]);
    const path = /`(.+)`/.exec(answer)![1]!;
    expect(readFileSync(join(workspace, path), "utf8")).toBe("- the door code is 4711 (noted 2026-11-15)\n");
    expect(await converse("what do you remember about the door?")).toMatchObject({
      called: ["memory_search", "memory_get"],
      answer: expect.stringContaining("4711"),
    });
  });

  test("a reminder becomes a job, and jobs are listed", async () => {
    const { called, answer } = await converse("remind me in 20 minutes to check the oven");
    expect([called, answer]).toEqual([["cron"], expect.stringContaining("check the oven")]);
    expect(jobs).toMatchObject([{ schedule: { kind: "at" }, sessionTarget: "main", payload: { kind: "systemEvent", text: "Reminder: check the oven" } }]);
    expect((await converse("list my reminders")).answer).toContain("check the oven");
  });
});
