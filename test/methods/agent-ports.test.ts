import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AppError } from "../../src/base/errors.ts";
import type { AgentPort, ToolFactsPort } from "../../src/gateway/index.ts";
import { loadAnswerChecks, type AnswerChecks, type MethodName } from "../../src/protocol/index.ts";
import { openAgentSurface, type AgentSurface } from "../harness/agent-surface.ts";
import type { Frame, RawClient } from "../harness/gateway-client.ts";

const asked: unknown[] = [];
const toolFacts: ToolFactsPort = {
  async explain(request) {
    asked.push(request);
    const all = [
      { name: "read", allowed: true, why: "no policy says otherwise", source: "core" },
      { name: "exec", allowed: false, layer: "global", path: "tools.deny", entry: "exec", why: "denied by tools", source: "core" },
    ];
    return all.filter(({ name }) => request.tool === undefined || request.tool === name);
  },
  file: async (_, path) => ({ path, read: { decision: "allow", why: "it may be read" }, write: { decision: "deny", why: "it is sealed" } }),
  catalog: async (agentId) => [{ name: "read", description: `for ${agentId}`, source: "core", parameters: { type: "object" } }],
};
const compacted: unknown[] = [];
const compact: AgentPort["compact"] = async ({ sessionKey, instructions }) => {
  compacted.push({ sessionKey, instructions });
  return { compacted: true, tokensBefore: 100, tokensAfter: 10 };
};

let gateway: AgentSurface;
let admin: RawClient;
let checks: AnswerChecks;
beforeAll(async () => {
  const config = { agents: { list: [{ id: "main" }, { id: "ops" }] }, skills: { entries: { weather: { env: { OLD: "1" } } } } };
  [gateway, checks] = await Promise.all([openAgentSurface({ config, toolFacts, compact }), loadAnswerChecks()]);
  admin = await gateway.client();
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** What is looked at of answers one by one. */
interface Payload {
  readonly hash: string;
  readonly decision: string | null;
  readonly file: { readonly agents?: unknown };
  readonly files: readonly { readonly name: string; readonly missing: boolean }[];
  readonly workspace: string;
  readonly skills: readonly { readonly name: string }[];
  readonly tools: readonly unknown[];
  readonly sessionKey: string;
  readonly entry: { readonly sessionId: string };
}

interface VersionsPayload {
  readonly versions: readonly { readonly id: string; readonly by: string; readonly current: boolean; readonly hash: string }[];
}

/** The answer's payload, which fits what is declared; the text of its error when there is one. */
async function ask(method: MethodName, params: object = {}, client = admin): Promise<Payload> {
  const { ok, payload, error } = await client.request(method, params);
  if (!ok) return error!.message as unknown as Payload;
  expect([method, payload, checks.result(method, payload)]).toEqual([method, payload, undefined]);
  return payload as unknown as Payload;
}
const events = (client: RawClient, name: string): Frame[] => client.frames.filter(({ event }) => event === name);

test("methods without their port are not advertised, and answer UNAVAILABLE", async () => {
  await using bare = await openAgentSurface({ bare: true });
  const client = await bare.client();
  const hello = (one: RawClient) => (one.frames.find(({ id }) => id === "r1")!.payload!["features"] as { methods: string[] }).methods;
  const own = ["exec.approval.list", "exec.approval.request", "exec.approval.resolve", "exec.approval.waitDecision", "exec.approvals.get", "exec.approvals.set"]
    .concat(["exec.approvals.remembered", "exec.approvals.forget"])
    .concat(["tools.explain", "tools.catalog", "agents.files.list", "agents.files.get", "agents.files.set"])
    .concat(["skills.status", "skills.bins", "skills.update"]);
  expect(own.filter((method) => !hello(admin).includes(method))).toEqual([]);
  expect(own.filter((method) => hello(client).includes(method))).toEqual([]);
  expect(await client.request("tools.explain", {})).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
});

test("questions of plugins are events of their own: severity, owner, the decisions that can be given, and an end, also when nobody decides", async () => {
  const approver = await gateway.client({ scopes: ["operator.approvals"] });
  const request = {
    title: "Send mail?",
    description: "to ada",
    severity: "critical",
    pluginId: "mailer",
    toolName: "mail",
    toolCallId: "call-1",
    sessionKey: "agent:main:main",
  };
  const question = { ...request, allowedDecisions: ["allow-once", "deny"], agentId: null };
  for (const [timeoutMs, answer, ending] of [
    [60_000, "deny", { decision: "deny", reason: "user" }],
    [1, undefined, { decision: null, reason: "timeout", resolvedBy: null }],
  ] as const) {
    const { id, decision } = await gateway.approvals.request({ kind: "plugin", request, timeoutMs, allowed: ["allow-once", "deny"] });
    const asked = await approver.next((frame) => frame.event === "plugin.approval.requested" && frame.payload?.["id"] === id);
    expect(asked.payload).toMatchObject({ approvalKind: "plugin", request: question, createdAtMs: expect.any(Number), expiresAtMs: expect.any(Number) });
    if (answer) expect(await ask("exec.approval.resolve", { id, decision: answer }, approver)).toEqual({ ok: true });
    else gateway.clock.advance(timeoutMs);
    expect(await decision).toBe(answer ?? "timeout");
    const closed = await approver.next((frame) => frame.event === "plugin.approval.resolved" && frame.payload?.["id"] === id);
    expect(closed.payload).toMatchObject({ ...ending, request: question, ts: expect.any(Number) });
    const forCommands = await approver.next((frame) => frame.event === "exec.approval.resolved" && frame.payload?.["id"] === id);
    expect(forCommands.payload).toMatchObject({ decision: answer ?? "deny", ...(answer ? {} : { resolvedBy: "timeout" }) });
  }
});

test("a question about a command is sent to those who may answer, without the plan, and is answered once", async () => {
  const [approver, reader] = await Promise.all([
    gateway.client({ scopes: ["operator.approvals"], client: { id: "test", mode: "test", version: "1", platform: "x", displayName: "Ada" } }),
    gateway.client({ scopes: ["operator.read", "operator.write"] }),
  ]);
  const question = {
    command: "rm -rf build",
    cwd: "/w",
    host: "gateway",
    agentId: "main",
    plan: { argv: ["rm"], env: { SECRET: "x" } },
    security: "allowlist",
  };
  const { id, decision } = await gateway.approvals.request({ kind: "exec", request: question });
  const { payload } = await approver.next((frame) => frame.event === "exec.approval.requested" && frame.payload?.["id"] === id);
  expect(payload).toEqual({
    id,
    request: {
      command: "rm -rf build",
      cwd: "/w",
      environment: null,
      host: "gateway",
      nodeId: null,
      security: "allowlist",
      ask: null,
      agentId: "main",
      resolvedPath: null,
      sessionKey: null,
      always: null,
    },
    createdAtMs: expect.any(Number),
    expiresAtMs: expect.any(Number),
  });
  const listed = (await ask("exec.approval.list", {}, approver)) as unknown as { approvals: Record<string, unknown>[] };
  expect(listed.approvals.find((one) => one["id"] === id)).toEqual({ ...payload, kind: "exec" });
  expect(await ask("exec.approval.list", {}, reader)).toBe("missing scope: operator.approvals");
  const waiting = ask("exec.approval.waitDecision", { id }, approver);
  expect(await ask("exec.approval.resolve", { id, decision: "maybe" }, approver)).toMatch(/^invalid decision/);
  expect(await ask("exec.approval.resolve", { id, decision: "allow-once" }, reader)).toBe("missing scope: operator.approvals");
  expect(await ask("exec.approval.resolve", { id, decision: "allow-once" }, approver)).toEqual({ ok: true });
  expect([await decision, (await waiting).decision]).toEqual(["allow-once", "allow-once"]);
  expect(await ask("exec.approval.resolve", { id, decision: "deny" }, approver)).toBe("unknown approval id");
  expect((await ask("exec.approval.waitDecision", { id }, approver)).decision).toBe("allow-once");
  const resolved = await approver.next((frame) => frame.event === "exec.approval.resolved" && frame.payload?.["id"] === id);
  expect(resolved.payload).toMatchObject({ decision: "allow-once", resolvedBy: "Ada" });
  expect(JSON.stringify(await ask("exec.approval.list", {}, approver))).not.toContain(id);
  gateway.clock.advance(15_001);
  expect(await ask("exec.approval.waitDecision", { id }, approver)).toBe("approval expired or not found");
  expect([...events(reader, "exec.approval.requested"), ...events(reader, "exec.approval.resolved")]).toEqual([]);
  expect(JSON.stringify(approver.frames)).not.toContain("SECRET");
});

test("a client asks in two phases; nobody's answer is null and is not announced", async () => {
  const approver = await gateway.client({ scopes: ["operator.approvals"] });
  const id = crypto.randomUUID();
  const answer = ask("exec.approval.request", { id, command: "ls", timeoutMs: 5000, twoPhase: true }, approver);
  const { payload } = await approver.next((frame) => frame.type === "res" && frame.payload?.["status"] === "accepted");
  expect(payload).toEqual({ status: "accepted", id, createdAtMs: gateway.clock.now(), expiresAtMs: gateway.clock.now() + 5000 });
  expect(await ask("exec.approval.request", { id, command: "ls" }, approver)).toMatch(/was already requested/);
  gateway.clock.advance(5000);
  expect(await answer).toMatchObject({ id, decision: null });
  expect(events(approver, "exec.approval.resolved").filter((frame) => frame.payload?.["id"] === id)).toEqual([]);
});

test("a plugin's question comes the same way, by its title", async () => {
  const context = { agentId: "main", sessionKey: "agent:main:main", sessionId: "s", runId: "r", workspaceDir: "/", owner: true };
  const question = { title: "Send it?", description: "to Bob", toolName: "message", toolCallId: "c", pluginId: "p", context };
  const decision = gateway.approvals.ask(question, new AbortController().signal);
  const { payload } = await admin.next((frame) => (frame.payload?.["request"] as { command?: string } | undefined)?.command === "message: Send it?\nto Bob");
  await ask("exec.approval.resolve", { id: payload!["id"], decision: "deny" });
  expect(await decision).toBe("deny");
});

test("the rules for commands are read without their token, and changed by who has read them", async () => {
  const first = await ask("exec.approvals.get");
  expect(first).toMatchObject({ path: gateway.rulesFile, exists: false, file: { version: 1 } });
  const file = { version: 1, defaults: { security: "allowlist", ask: "on-miss" }, agents: { main: { allowlist: [{ pattern: "/bin/ls" }] } } };
  const second = await ask("exec.approvals.set", { file, baseHash: first.hash });
  expect(second).toMatchObject({ exists: true, file: { defaults: { ask: "on-miss" }, agents: { main: { allowlist: [{ pattern: "/bin/ls" }] } } } });
  const stored = JSON.parse(readFileSync(gateway.rulesFile, "utf8")) as { socket: { token: string } };
  expect([stored.socket.token, statSync(gateway.rulesFile).mode & 0o777]).toEqual([expect.stringMatching(/^\S{32}$/), 0o600]);
  expect(JSON.stringify(second)).not.toContain(stored.socket.token);
  expect(await ask("exec.approvals.set", { file })).toBe("exec approvals base hash required; re-run exec.approvals.get and retry");
  expect(await ask("exec.approvals.set", { file, baseHash: first.hash })).toBe("exec approvals changed since last load; re-run exec.approvals.get and retry");
  expect(await ask("exec.approvals.set", { file: { version: 1, defaults: { security: "none" } }, baseHash: second.hash })).toMatch(
    /defaults\.security must be/,
  );
  const third = await ask("exec.approvals.set", { file: { version: 1 }, baseHash: second.hash });
  expect(third.file.agents).toEqual({});
  expect(JSON.parse(readFileSync(gateway.rulesFile, "utf8"))).toMatchObject({ socket: stored.socket });
});

test("whether a session may use a tool is explained", async () => {
  expect(await ask("tools.explain", { tool: " EXEC " })).toEqual({
    agentId: "main",
    sessionKey: "agent:main:main",
    tools: [{ name: "exec", allowed: false, layer: "global", path: "tools.deny", entry: "exec", why: "denied by tools", source: "core" }],
  });
  expect(asked.at(-1)).toEqual({ agentId: "main", sessionKey: "agent:main:main", tool: "exec", owner: true });
  expect((await ask("tools.explain", { agentId: "OPS" })).sessionKey).toBe("agent:ops:main");
  const reader = await gateway.client({ scopes: ["operator.read"] });
  expect((await ask("tools.explain", { sessionKey: "agent:ops:x" }, reader)).tools).toHaveLength(2);
  expect(asked.at(-1)).toEqual({ agentId: "ops", sessionKey: "agent:ops:x", owner: false });
  expect(await ask("tools.explain", { sessionKey: "agent:ops:x", agentId: "main" })).toBe('agent "main" does not match session key agent "ops"');
  expect(await ask("tools.explain", { sessionKey: "agent:ghost:x" })).toBe('unknown agent id "ghost"');
  expect(await ask("tools.explain", { agentId: "ghost" })).toBe('unknown agent id "ghost"');
  expect(await ask("tools.explain", { tool: "nothing" })).toBe('unknown tool "nothing"');
  expect(await ask("tools.catalog", { agentId: "ops" })).toMatchObject({ agentId: "ops", tools: [{ name: "read", description: "for ops" }] });
});

test("the files that shape an agent are listed, read and written; no others are reached", async () => {
  writeFileSync(join(gateway.workspace, "SOUL.md"), "kind");
  const outside = join(gateway.folder, "outside");
  writeFileSync(outside, "secret");
  symlinkSync(outside, join(gateway.workspace, "USER.md"));
  mkdirSync(join(gateway.workspace, "TOOLS.md"));
  const { files, workspace } = await ask("agents.files.list", { agentId: "main" });
  expect(workspace).toBe(gateway.workspace);
  expect(files.map((file) => [file.name, file.missing])).toEqual([
    ["AGENTS.md", true],
    ["SOUL.md", false],
    ["TOOLS.md", true],
    ["IDENTITY.md", true],
    ["USER.md", true],
    ["HEARTBEAT.md", true],
    ["BOOTSTRAP.md", true],
    ["MEMORY.md", true],
  ]);
  expect((await ask("agents.files.get", { agentId: "main", name: "SOUL.md" })).file).toMatchObject({ content: "kind", size: 4, missing: false });
  expect((await ask("agents.files.get", { agentId: "main", name: "AGENTS.md" })).file).toEqual({
    name: "AGENTS.md",
    path: join(gateway.workspace, "AGENTS.md"),
    missing: true,
  });
  expect(await ask("agents.files.set", { agentId: "main", name: "AGENTS.md", content: "be brief" })).toMatchObject({
    ok: true,
    file: { content: "be brief", size: 8 },
  });
  expect(readFileSync(join(gateway.workspace, "AGENTS.md"), "utf8")).toBe("be brief");
  expect(await ask("agents.files.set", { agentId: "ops", name: "MEMORY.md", content: "" })).toMatchObject({
    ok: true,
    workspace: join(gateway.folder, "workspace-ops"),
  });
  for (const name of ["../outside", "outside", "agents.md", "AGENTS.md/../../outside", "SOUL.md\0", "skills/x/SKILL.md"]) {
    expect(await ask("agents.files.get", { agentId: "main", name })).toBe(`unsupported file "${name}"`);
    expect(await ask("agents.files.set", { agentId: "main", name, content: "x" })).toBe(`unsupported file "${name}"`);
  }
  expect(await ask("agents.files.get", { agentId: "main", name: "USER.md" })).not.toMatchObject({ file: expect.anything() });
  expect(await ask("agents.files.set", { agentId: "main", name: "USER.md", content: "x" })).not.toMatchObject({ ok: true });
  expect(readFileSync(outside, "utf8")).toBe("secret");
  expect(await ask("agents.files.list", { agentId: "ghost" })).toBe('unknown agent id "ghost"');
  expect(await ask("agents.files.set", { agentId: "main", name: "SOUL.md", content: "x".repeat(2_097_153) })).toMatch(/the limit is 2097152/);
});

test("what the page and others made of a file are versions; one comes back, and a file that changed meanwhile is not overwritten", async () => {
  const workspace = join(gateway.folder, "workspace-ops");
  mkdirSync(workspace, { recursive: true });
  const file = join(workspace, "IDENTITY.md");
  const where = { agentId: "ops", name: "IDENTITY.md" };
  const versions = async () => ((await ask("agents.files.versions", where)) as unknown as VersionsPayload).versions;
  const seen = async (): Promise<string> => ((await ask("agents.files.get", where)).file as unknown as { readonly hash: string }).hash;
  expect(await versions()).toEqual([]);
  writeFileSync(file, "Ada\n");
  const first = await seen();
  gateway.clock.advance(1000);
  expect(await ask("agents.files.set", { ...where, content: "Grace\n", hash: first })).toMatchObject({ ok: true });
  expect((await versions()).map(({ by, current }) => [by, current])).toEqual([
    ["page", true],
    ["outside", false],
  ]);

  // Someone else is faster: nothing is written, and both texts are there to be compared.
  const second = await seen();
  writeFileSync(file, "Edsger\n");
  const refused = await admin.request("agents.files.set", { ...where, content: "Barbara\n", hash: second });
  expect(refused).toMatchObject({ ok: false, error: { details: { reason: "CONFLICT" } } });
  expect(readFileSync(file, "utf8")).toBe("Edsger\n");
  expect(await ask("agents.files.set", { ...where, content: "Barbara\n", hash: "" })).toMatch(/changed in the meantime/);
  gateway.clock.advance(1000);
  expect(await ask("agents.files.set", { ...where, content: "Barbara\n" })).toMatchObject({ ok: true });

  const listed = await versions();
  expect(listed.map(({ by }) => by)).toEqual(["page", "outside", "page", "outside"]);
  const { id } = listed[2]!;
  expect(await ask("agents.files.version", { ...where, id })).toMatchObject({ content: "Grace\n", before: "Ada\n" });
  expect(await ask("agents.files.restore", { ...where, id, hash: first })).toMatch(/changed in the meantime/);
  expect(await ask("agents.files.restore", { ...where, id, hash: await seen() })).toMatchObject({ ok: true, file: { content: "Grace\n" } });
  expect(readFileSync(file, "utf8")).toBe("Grace\n");
  expect((await versions())[0]).toMatchObject({ by: "page", current: true, hash: await seen() });
  expect(await ask("agents.files.version", { ...where, id: "../../../openclaw.json" })).toMatch(/there is no version/);
  expect(await ask("agents.files.versions", { ...where, name: "../outside" })).toBe('unsupported file "../outside"');
  const reader = await gateway.client({ scopes: ["operator.read"] });
  expect(await reader.request("agents.files.versions", where)).toMatchObject({ ok: true });
  expect(await reader.request("agents.files.restore", { ...where, id })).toMatchObject({ ok: false });
});

test("skills are shown with what they lack, and turned on and off", async () => {
  const metadata = { openclaw: { requires: { bins: ["no-such-program-1"], env: ["WEATHER_KEY"], config: ["browser.enabled"] }, primaryEnv: "WEATHER_KEY" } };
  const install = [
    { id: "b", kind: "brew", formula: "weather", bins: ["no-such-program-1"] },
    { kind: "node", package: "weather-cli", bins: ["no-such-program-2"] },
  ];
  const folder = join(gateway.workspace, "skills/weather");
  mkdirSync(folder, { recursive: true });
  const head = JSON.stringify({ openclaw: { ...metadata.openclaw, install } });
  writeFileSync(join(folder, "SKILL.md"), `---\nname: weather\ndescription: The weather\nmetadata: ${head}\n---\nUse it.\n`);
  const row = async () => (await ask("skills.status")).skills.find(({ name }) => name === "weather");
  expect(await row()).toMatchObject({
    skillKey: "weather",
    source: "openclaw-workspace",
    bundled: false,
    eligible: false,
    disabled: false,
    missing: { bins: ["no-such-program-1"], env: ["WEATHER_KEY"], config: [] },
    configChecks: [{ path: "browser.enabled", satisfied: true }],
    install: [{ id: "node-1", kind: "node", label: "Install weather-cli (npm)", bins: ["no-such-program-2"] }],
  });
  const node = await gateway.client({ role: "node", scopes: [] });
  expect(await ask("skills.bins", {}, node)).toEqual({ bins: ["no-such-program-1", "no-such-program-2"] });
  const update = (params: object) => ask("skills.update", { skillKey: "weather", ...params });
  const set = await update({ enabled: false, apiKey: "key-0123456789abcdef", env: { A: "1", OLD: "" } });
  expect(set).toMatchObject({ ok: true, skillKey: "weather", config: { enabled: false } });
  expect(JSON.stringify(set)).not.toContain("key-0123456789abcdef");
  expect(gateway.config.current.skills?.entries?.["weather"]).toEqual({ enabled: false, apiKey: "key-0123456789abcdef", env: { A: "1" } });
  expect(await row()).toMatchObject({ disabled: true, missing: { env: [] } });
  await update({ enabled: true, apiKey: "" });
  expect(gateway.config.current.skills?.entries?.["weather"]).toEqual({ enabled: true, env: { A: "1" } });
  const reader = await gateway.client({ scopes: ["operator.read"] });
  expect(await ask("skills.update", { skillKey: "weather", enabled: false }, reader)).toBe("missing scope: operator.admin");
});

test("a session is summed up by its agent, or cut where lines are named", async () => {
  const key = "agent:main:long";
  expect(await ask("sessions.compact", { key })).toEqual({ ok: true, key, compacted: false, reason: "no session" });
  await ask("sessions.patch", { key, label: "Long" });
  expect(await ask("sessions.compact", { key, instructions: " keep names " })).toEqual({ ok: true, key, compacted: true, tokensBefore: 100, tokensAfter: 10 });
  expect(compacted).toEqual([{ sessionKey: key, instructions: "keep names" }]);
  expect(await ask("sessions.compact", { key, maxLines: 3 })).toEqual({ ok: true, key, compacted: false, reason: "no transcript" });
  expect(compacted).toHaveLength(1);
});

test("a session that cannot be summed up now says so", async () => {
  const busy = async () => {
    throw new AppError("UNAVAILABLE", "Session agent:main:busy is still active; try again in a moment.");
  };
  await using other = await openAgentSurface({ compact: busy });
  const client = await other.client();
  await client.request("sessions.patch", { key: "busy", label: "Busy" });
  expect(await client.request("sessions.compact", { key: "busy" })).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
});

test("a session that is reset keeps what belongs to the chat and leaves what belonged to the conversation", async () => {
  await ask("sessions.patch", { key: "fresh", label: "Home", thinkingLevel: "low", sendPolicy: "allow", responseUsage: "full" });
  const before = (await gateway.store.read("sessions.get", { key: "agent:main:fresh" }))!.entry.sessionId;
  const { entry } = await ask("sessions.reset", { key: "fresh" });
  expect(entry).toMatchObject({ label: "Home", thinkingLevel: "low", systemSent: false, compactionCount: 0 });
  expect(entry.sessionId).not.toBe(before);
  for (const field of ["sendPolicy", "responseUsage", "totalTokens"]) expect(Object.keys(entry)).not.toContain(field);
});
