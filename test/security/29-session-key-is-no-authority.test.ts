/** 29: anyone who knew a session's key could use the session. A subagent knows the keys of others; what it may do does not depend on that. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { openStore, transcriptFile, type Store } from "../../src/store/index.ts";
import { agentsListTool } from "../../src/tools/builtin/session/agents-list.ts";
import { sessionStatusTool } from "../../src/tools/builtin/session/session-status.ts";
import { sessionsHistoryTool } from "../../src/tools/builtin/session/sessions-history.ts";
import { sessionsListTool } from "../../src/tools/builtin/session/sessions-list.ts";
import { sessionsSendTool } from "../../src/tools/builtin/session/sessions-send.ts";
import type { SessionToolsDeps, Tool, ToolOutcome } from "../../src/tools/index.ts";

const NOW = Date.UTC(2026, 10, 16);
const clock = manualClock(NOW);
const CALLER = "agent:main:subagent:caller";
const CHILD = "agent:main:subagent:child";
/** Everything that the caller did not begin. */
const FOREIGN = {
  parent: "agent:main:main",
  sibling: "agent:main:subagent:sibling",
  niece: "agent:work:subagent:niece",
  group: "agent:main:telegram:group:-1001",
  direct: "agent:main:telegram:direct:7",
  cron: "agent:main:cron:nightly",
  hook: "agent:main:hook:deploy",
  other: "agent:work:main",
  missing: "agent:main:subagent:missing",
} as const;
const CANARY = "canary-of-another-session";
const idOf = (key: string): string => key.replaceAll(/[^a-z0-9]/g, "-");

let store: Store;
let deps: (config?: OpenClawConfig, sandboxed?: boolean) => SessionToolsDeps;
const models: string[] = [];
const posted: string[] = [];

async function put(key: string, entry: Record<string, unknown> = {}): Promise<void> {
  const agentId = key.split(":")[1]!;
  const sessionId = idOf(key);
  await store.commit([["sessions.put", { key, agentId, entry: { sessionId, updatedAt: NOW, ...entry } }]]);
  const file = transcriptFile(agentId, sessionId);
  const header = JSON.stringify({ type: "session", version: 3, id: sessionId, timestamp: new Date(NOW).toISOString() });
  const text = key === CALLER || key === CHILD ? "own words" : CANARY;
  const line = JSON.stringify({ type: "message", id: "m1", parentId: null, timestamp: new Date(NOW).toISOString(), message: { role: "user", content: text } });
  await store.commit([
    ["transcripts.ensure", { file, agentId, sessionId, header }],
    ["transcripts.append", { file, entries: [{ id: "m1", parentId: null, type: "message", line }] }],
  ]);
}

beforeAll(async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "session-authority-"));
  store = await openStore({ stateDir, clock });
  for (const [name, key] of Object.entries(FOREIGN)) if (name !== "missing") await put(key, { label: `label-${name}` });
  await put(FOREIGN.sibling, { label: "label-sibling", spawnedBy: FOREIGN.parent });
  await put(FOREIGN.niece, { label: "label-niece", spawnedBy: FOREIGN.sibling });
  await put(CALLER, { spawnedBy: FOREIGN.parent, spawnDepth: 1 });
  await put(CHILD, { spawnedBy: CALLER, spawnDepth: 2, label: "label-child" });
  deps = (config = {}, sandboxed = false) => ({
    store,
    config: () => config,
    clock,
    stateDir,
    version: "1",
    isSandboxed: () => sandboxed,
    redact: (text) => text,
    models: {
      describe: () => Promise.resolve({ ref: "acme/large" }),
      setModel: (key, ref) => (models.push(`${key} ${ref}`), Promise.resolve(ref)),
    },
  });
});
afterAll(() => store[Symbol.asyncDispose]());

const TOOLS: readonly ((own: SessionToolsDeps) => Tool)[] = [
  sessionStatusTool.create,
  sessionsListTool.create,
  sessionsHistoryTool.create,
  agentsListTool.create,
  (own) => sessionsSendTool.create({ ...own, post: { send: ({ to }) => (posted.push(to.key), Promise.resolve({ status: "accepted" })) } }),
];

/** Other ways to write a key, and the session's id. */
const spellings = (key: string): readonly string[] => [
  key,
  key.toUpperCase(),
  `  ${key}  `,
  key.replace(":direct:", ":dm:"),
  key.replace(/^agent:main:/, ""),
  `${key}\u0000`,
  idOf(key),
];

const call = (tool: Tool, params: Record<string, unknown>): Promise<ToolOutcome> =>
  tool.run({
    id: "c",
    params,
    signal: new AbortController().signal,
    update: () => undefined,
    context: { agentId: "main", sessionKey: CALLER, sessionId: "s", runId: "r", workspaceDir: "/nowhere", owner: false },
  });

/** Parameters of a tool that name a session, with something in the others. */
function paramsFor(tool: Tool, key: string): readonly Record<string, unknown>[] {
  const { properties } = tool.parameters as { readonly properties: Record<string, unknown> };
  const named = Object.keys(properties).filter((name) => /session|key/i.test(name));
  const label = Object.entries(FOREIGN).find(([, foreign]) => foreign === key)?.[0];
  const byLabel = "label" in properties ? ["main", "work"].map((agentId) => ({ label: `label-${label}`, agentId, message: "x", timeoutSeconds: 0 })) : [];
  return [
    ...named.flatMap((name) => spellings(key).map((text) => ({ [name]: text, message: "x", timeoutSeconds: 0, messageLimit: 5, includeTools: true }))),
    ...byLabel,
  ];
}

/** The settings a subagent is usually held by, and the widest that still keep agents apart. */
const HELD: readonly [string, OpenClawConfig, boolean][] = [
  ["nothing is set", {}, false],
  ["only itself is visible", { tools: { sessions: { visibility: "self" } } }, false],
  ["it is sandboxed, whatever else is open", { tools: { sessions: { visibility: "all" }, agentToAgent: { enabled: true } } }, true],
];

test.each(HELD)("29: when %s, no session tool shows, changes or writes to a session that the subagent did not begin", async (_name, config, sandboxed) => {
  const own = deps(config, sandboxed);
  let calls = 0;
  for (const make of TOOLS) {
    const tool = make(own);
    for (const [name, key] of Object.entries(FOREIGN)) {
      for (const params of paramsFor(tool, key)) {
        calls += 1;
        const outcome = await call(tool, params);
        const what = `${tool.name} ${name} ${JSON.stringify(params)}`;
        expect(JSON.stringify(outcome), what).not.toContain(CANARY);
        // The card of a session of the same agent may be looked at outside of a sandbox, as documented: it has no words in it.
        const isCard = tool.name === "session_status" && !sandboxed && name !== "other" && name !== "niece";
        if (!isCard) expect(outcome.isError, what).toBe(true);
        if (tool.name === "session_status") expect((await call(tool, { ...params, model: "acme/other" })).isError, what).toBe(true);
      }
    }
  }
  expect(calls).toBeGreaterThan(150);
  expect([models, posted]).toEqual([[], []]);
});

test("29: a list shows the subagent itself and what it began", async () => {
  const listed = JSON.parse(
    (await call(sessionsListTool.create(deps()), { limit: 100, messageLimit: 5 })).content.map((part) => ("text" in part ? part.text : "")).join(""),
  ) as {
    sessions: { key: string }[];
  };
  expect(listed.sessions.map(({ key }) => key).sort()).toEqual([CALLER, CHILD].sort());
  expect(JSON.stringify(listed)).not.toContain(CANARY);
});

test("29: a refusal does not tell whether there is such a session, by key or by label", async () => {
  const send = TOOLS.at(-1)!(deps());
  const shown = async (tool: Tool, params: Record<string, unknown>): Promise<string> => JSON.stringify((await call(tool, params)).content);
  expect(await shown(sessionsHistoryTool.create(deps()), { sessionKey: FOREIGN.sibling })).toBe(
    await shown(sessionsHistoryTool.create(deps()), { sessionKey: FOREIGN.missing }),
  );
  for (const agentId of ["main", "work"])
    expect(await shown(send, { label: "label-other", agentId, message: "x" })).toBe(await shown(send, { label: "label-nobody", agentId, message: "x" }));
});

test("29: its own child it may read and write to, so that a refusal means something", async () => {
  expect((await call(sessionsHistoryTool.create(deps()), { sessionKey: CHILD })).isError).toBe(false);
  expect((await call(TOOLS.at(-1)!(deps()), { label: "label-child", message: "x", timeoutSeconds: 0 })).isError).toBe(false);
  expect(posted.splice(0)).toEqual([CHILD]);
});

test("29: every tool that takes a session is tried here", () => {
  const tried = TOOLS.map((make) => make(deps()).name).sort();
  expect(tried).toEqual(["agents_list", "session_status", "sessions_history", "sessions_list", "sessions_send"]);
});
