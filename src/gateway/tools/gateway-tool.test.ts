import { expect, test } from "vitest";
import { AppError } from "../../base/errors.ts";
import type { ToolContext, ToolOutcome } from "../../tools/index.ts";
import { gatewayTool, type GatewayActions } from "./gateway-tool.ts";

type Asked = readonly [action: string, request?: unknown];

function fixture({ mayRestart = true, canUpdate = true }: { readonly mayRestart?: boolean; readonly canUpdate?: boolean } = {}) {
  const asked: Asked[] = [];
  const answer = <T>(name: string, value: T, request?: unknown): Promise<T> => {
    asked.push(request === undefined ? [name] : [name, request]);
    return Promise.resolve(value);
  };
  const actions: GatewayActions = {
    restart: (request) =>
      answer(
        "restart",
        { ok: true, coalesced: false, pid: 7, signal: "SIGUSR1", mode: "in-process", cooldownMsApplied: 0, delayMs: request.delayMs, reason: request.reason },
        request,
      ),
    configGet: () => answer("config.get", { hash: "h1" } as never),
    configSchema: () => answer("config.schema", { version: "1" } as never),
    configApply: (change) => answer("config.apply", { ok: true } as never, change),
    configPatch: (change) =>
      change.baseHash === "old"
        ? Promise.reject(new AppError("CONFIG_STALE", "the configuration changed since"))
        : answer("config.patch", { ok: true } as never, change),
    ...(canUpdate ? { updateRun: (request) => answer("update.run", { ok: true } as never, request) } : {}),
  };
  const tool = gatewayTool({ actions, mayRestart: () => mayRestart });
  const context = { agentId: "main", sessionKey: "agent:main:main", sessionId: "s", runId: "r", workspaceDir: "/nowhere", owner: true };
  const run = (params: Record<string, unknown>): Promise<ToolOutcome> =>
    tool.run({ id: "c", params, signal: new AbortController().signal, update: () => undefined, context });
  return { tool, run, asked };
}

const text = ({ content: [part] }: ToolOutcome): string => (part?.type === "text" ? part.text : "");

test("an update is on offer only where the program can update itself", () => {
  const actions = (tool: ReturnType<typeof fixture>["tool"]): unknown => (tool.parameters["properties"] as { action: { enum: unknown } }).action.enum;
  expect(actions(fixture({ canUpdate: true }).tool)).toContain("update.run");
  expect(actions(fixture({ canUpdate: false }).tool)).not.toContain("update.run");
});

test("it is the owner's", () => {
  expect(fixture().tool.ownerOnly).toBe(true);
});

const here = { sessionKey: "agent:main:main" };
test.each<[string, Record<string, unknown>, readonly Asked[], unknown]>([
  [
    "restart has a delay and a reason",
    { action: "restart" },
    [["restart", { ...here, delayMs: 2000, reason: "requested by the agent" }]],
    { ok: true, pid: 7, signal: "SIGUSR1", delayMs: 2000 },
  ],
  [
    "restart waits at most a minute, and its reason is short",
    { action: "restart", delayMs: 1e9, reason: "x".repeat(300), sessionKey: "agent:main:other", note: " back " },
    [["restart", { sessionKey: "agent:main:other", note: "back", delayMs: 60_000, reason: "x".repeat(200) }]],
    { delayMs: 60_000 },
  ],
  ["restart at once", { action: "restart", delayMs: -5 }, [["restart", { ...here, delayMs: 0, reason: "requested by the agent" }]], { delayMs: 0 }],
  ["config.get", { action: "config.get" }, [["config.get"]], { ok: true, result: { hash: "h1" } }],
  ["config.schema", { action: "config.schema" }, [["config.schema"]], { ok: true, result: { version: "1" } }],
  [
    "config.patch is based on what is there now",
    { action: "config.patch", raw: "{ a: 1 }" },
    [["config.get"], ["config.patch", { ...here, raw: "{ a: 1 }", baseHash: "h1" }]],
    { ok: true, result: { ok: true } },
  ],
  [
    "config.apply is based on what is said",
    { action: "config.apply", raw: "{}", baseHash: "h0", restartDelayMs: 10, note: "n" },
    [["config.apply", { ...here, note: "n", restartDelayMs: 10, raw: "{}", baseHash: "h0" }]],
    { ok: true, result: { ok: true } },
  ],
  ["update.run has twenty minutes", { action: "update.run" }, [["update.run", { ...here, timeoutMs: 1_200_000 }]], { ok: true, result: { ok: true } }],
])("%s", async (_, params, expected, result) => {
  const { run, asked } = fixture();
  const outcome = await run(params);
  expect(asked).toEqual(expected);
  expect(outcome.isError).toBe(false);
  expect(JSON.parse(text(outcome))).toMatchObject(result as object);
});

test.each<[string, Record<string, unknown>, RegExp]>([
  ["an action that there is not", { action: "format" }, /^action required: one of restart, /],
  ["a change without a text", { action: "config.patch", raw: " " }, /^raw required$/],
  ["a change of something that has changed", { action: "config.patch", raw: "{}", baseHash: "old" }, /^the configuration changed since$/],
  ["a restart where none is wanted", { action: "restart" }, /commands\.restart is false/],
  ["an update where there is none", { action: "update.run" }, /cannot update itself/],
])("%s is reported", async (_, params, expected) => {
  const { run, asked } = fixture({ mayRestart: false, canUpdate: false });
  const outcome = await run(params);
  expect(outcome.isError).toBe(true);
  expect(text(outcome)).toMatch(expected);
  expect(asked).toEqual([]);
});

test("a change of rights is the operator's to agree to; what changes no rights is not asked about", () => {
  const { tool } = fixture();
  const asks = (params: Readonly<Record<string, unknown>>): unknown => tool.asks!(params, {} as ToolContext);
  expect(asks({ action: "config.patch", raw: '{tools:{exec:{security:"full"}}}' })).toMatchObject({
    title: "Change the configuration (tools.exec.security)",
    description: '{tools:{exec:{security:"full"}}}',
  });
  expect(asks({ action: "config.apply", raw: "{}" })).toMatchObject({ title: "Change the configuration (everything)" });
  for (const params of [{ action: "config.get" }, { action: "restart" }, { action: "config.patch", raw: '{ui:{seamColor:"#fff"}}' }])
    expect(asks(params)).toBeUndefined();
});
