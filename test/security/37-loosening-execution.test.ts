/** Class 37: every way to loosen execution × who asks × what the configuration says × sandboxed, when it is set and when it is used. */
import { expect, test } from "vitest";
import type { OpenClawConfig } from "../../src/config/index.ts";
import type { SessionEntry } from "../../src/protocol/index.ts";
import {
  changeChoice,
  execSettings,
  heldElevated,
  heldExec,
  isSessionSandboxed,
  sessionChoice,
  type Asker,
  type ChoiceChange,
  type ChoiceUse,
} from "../../src/tools/index.ts";

const SECURITY = ["deny", "allowlist", "full"];
const ASK = ["always", "on-miss", "off"];
const ELEVATED = ["off", "on", "full"];
const KEY = "agent:main:telegram:direct:7";

/** What a turn's commands get. Each number is how free it is. */
interface Freedom {
  readonly outside: number;
  readonly node: number;
  readonly security: number;
  readonly ask: number;
  readonly elevated: number;
}

const MASKS = ["outside", "node", "security", "ask", "elevated"] as const;
const isFreer = (one: Freedom, other: Freedom): boolean => MASKS.some((mask) => one[mask] > other[mask]);

interface Exec {
  readonly host?: "sandbox" | "gateway" | "node";
  readonly security?: "deny" | "allowlist" | "full";
  readonly ask?: "off" | "on-miss" | "always";
}

function configOf(exec: Exec, sandboxed: boolean, elevatedDefault?: "off" | "on" | "full"): OpenClawConfig {
  return {
    tools: { exec },
    agents: { defaults: { sandbox: { mode: sandboxed ? "all" : "off" }, ...(elevatedDefault ? { elevatedDefault } : {}) } },
  };
}

type Fields = Readonly<Record<string, unknown>>;
const entryOf = (fields: Fields): SessionEntry => ({ sessionId: "s", updatedAt: 1, ...fields });

/** What a turn gets of a session as it is stored. */
function freedom(entry: SessionEntry | undefined, config: OpenClawConfig, over: Partial<ChoiceUse> = {}): Freedom {
  const sandboxed = isSessionSandboxed(config, "main", KEY);
  const use: ChoiceUse = { config, agentId: "main", sandboxed, owner: true, stillMay: () => true, ...over };
  const choice = sessionChoice(entry);
  const { host, hostSecurity, ask, node } = execSettings(config, "main", heldExec(choice, use));
  const level = heldElevated(choice, use);
  return {
    outside: host === "sandbox" && sandboxed ? 0 : 1,
    node: host === "node" || node !== undefined ? 1 : 0,
    security: SECURITY.indexOf(hostSecurity),
    ask: ASK.indexOf(ask),
    elevated: ELEVATED.indexOf(level === "ask" ? "on" : level),
  };
}

const CONFIGS = [
  {},
  { security: "allowlist", ask: "on-miss" },
  { security: "deny" },
  { ask: "always" },
  { host: "gateway" },
  { host: "gateway", security: "full", ask: "off" },
  { host: "sandbox", security: "full", ask: "on-miss" },
  { host: "node", security: "allowlist" },
] as const satisfies readonly Exec[];

const WAYS: readonly ChoiceChange[] = [
  ...[undefined, "sandbox", "gateway", "node"].flatMap((execHost) =>
    [undefined, "deny", "allowlist", "full"].flatMap((execSecurity) =>
      [undefined, "always", "on-miss", "off"].map((execAsk) => ({
        ...(execHost ? { execHost } : {}),
        ...(execSecurity ? { execSecurity } : {}),
        ...(execAsk ? { execAsk } : {}),
      })),
    ),
  ),
  { execNode: "n1" },
  { execHost: "node", execNode: "n1" },
  ...["off", "on", "ask", "full"].map((elevatedLevel) => ({ elevatedLevel })),
  { execHost: null, execSecurity: null, execAsk: null, execNode: null, elevatedLevel: null },
].filter((change) => Object.keys(change).length > 0);

const ASKERS: readonly (readonly [string, Asker, mayWiden: boolean])[] = [
  ["the owner in a chat", { owner: true }, true],
  ["anybody else in a chat", { owner: false }, false],
  ["a client that may write", { owner: false, scopes: ["operator.read", "operator.write"] }, false],
  ["a client that may decide", { owner: false, scopes: ["operator.write", "operator.approvals", "operator.pairing"] }, false],
  ["a client that calls itself the owner", { owner: true, scopes: ["operator.write"] }, false],
  ["an administrator", { owner: true, scopes: ["operator.admin"] }, true],
];

/** Sessions as they may be: nothing chosen, narrowed, and widened by an owner. */
function states(config: OpenClawConfig): readonly (SessionEntry | undefined)[] {
  const narrowed = entryOf({ execSecurity: "deny", execAsk: "always", execHost: "sandbox", elevatedLevel: "off" });
  const widened = changed(undefined, config, { execAsk: "off" }, { owner: true });
  return [undefined, narrowed, widened];
}

/** The entry after a change, as `/exec` and `sessions.patch` store it; as it was when it is refused. */
function changed(entry: SessionEntry | undefined, config: OpenClawConfig, change: ChoiceChange, asker: Asker): SessionEntry | undefined {
  const grantor = asker.scopes ? ({ by: "client" } as const) : ({ by: "sender", channel: "telegram", accountId: "default", senders: ["7"] } as const);
  const sandboxed = isSessionSandboxed(config, "main", KEY);
  const verdict = changeChoice({ config, agentId: "main", sandboxed, entry, change, asker, grantor, holds: "owner" });
  if (verdict.kind !== "allowed") return entry;
  const fields = Object.entries({ ...entry, ...verdict.patch }).filter(([, value]) => value !== null);
  return entryOf(Object.fromEntries(fields));
}

for (const sandboxed of [false, true]) {
  test.each(ASKERS)(`37: %s, ${sandboxed ? "in a sandbox" : "without a sandbox"}: every way to loosen`, (_who, asker, mayWiden) => {
    let narrowings = 0;
    let widenings = 0;
    for (const exec of CONFIGS) {
      const config = configOf(exec, sandboxed);
      const base = freedom(undefined, config);
      for (const before of states(config)) {
        for (const change of WAYS) {
          const cell = JSON.stringify({ exec, before, change });
          const after = changed(before, config, change, asker);
          const [was, is] = [freedom(before, config), freedom(after, config)];
          if (!mayWiden) expect([cell, isFreer(is, was)]).toEqual([cell, false]);
          if (isFreer(is, was)) widenings += 1;
          if (isFreer(was, is)) narrowings += 1;
          // Nobody gets past what the configuration sets, and nobody out of the sandbox.
          if ("security" in exec) expect([cell, is.security <= base.security]).toEqual([cell, true]);
          if ("ask" in exec) expect([cell, is.ask <= base.ask]).toEqual([cell, true]);
          if ("host" in exec || sandboxed) expect([cell, is.outside <= base.outside]).toEqual([cell, true]);
          // What was widened holds for turns of owners only.
          const others = freedom(after, config, { owner: false });
          expect([cell, isFreer(others, base)]).toEqual([cell, false]);
        }
      }
    }
    expect(narrowings).toBeGreaterThan(100);
    if (mayWiden) expect(widenings).toBeGreaterThan(30);
    else expect(widenings).toBe(0);
  });
}

test("37: values that an earlier version stored for any caller only narrow, and so do grants that are none", () => {
  const grants = [
    undefined,
    true,
    { execSecurity: true },
    { execSecurity: { by: "client", holds: "session", value: "allowlist" } },
    { execSecurity: { by: "x" } },
  ];
  for (const sandboxed of [false, true]) {
    for (const exec of CONFIGS) {
      const config = configOf(exec, sandboxed);
      for (const change of WAYS) {
        for (const execGranted of grants) {
          const entry = entryOf({ ...change, ...(execGranted === undefined ? {} : { execGranted }) });
          const cell = JSON.stringify({ exec, entry });
          expect([cell, isFreer(freedom(entry, config), freedom(undefined, config))]).toEqual([cell, false]);
        }
      }
    }
  }
});

test("37: what was granted ends when the configuration is narrowed, or the sender who granted it is no owner any more", () => {
  for (const sandboxed of [false, true]) {
    const open = configOf({}, sandboxed);
    for (const change of WAYS) {
      const entry = changed(undefined, open, change, { owner: true });
      for (const exec of CONFIGS) {
        const now = configOf(exec, sandboxed);
        const cell = JSON.stringify({ exec, change });
        const [base, is] = [freedom(undefined, now), freedom(entry, now)];
        if ("security" in exec) expect([cell, is.security <= base.security]).toEqual([cell, true]);
        if ("ask" in exec) expect([cell, is.ask <= base.ask]).toEqual([cell, true]);
        if ("host" in exec) expect([cell, is.outside <= base.outside]).toEqual([cell, true]);
        expect([cell, isFreer(freedom(entry, now, { stillMay: () => false }), base)]).toEqual([cell, false]);
      }
      const inside = configOf({}, true);
      expect([change, freedom(entry, inside).outside]).toEqual([change, 0]);
    }
  }
});

test("37: a value that is written over a granted one is not granted", () => {
  const config = configOf({}, false);
  const granted = changed(undefined, config, { execAsk: "off" }, { owner: true })!;
  expect(freedom(granted, config).ask).toBe(2);
  const narrowed = changed(granted, config, { execAsk: "always" }, { owner: false })!;
  expect(freedom(narrowed, config).ask).toBe(0);
  expect(freedom(changed(narrowed, config, { execAsk: "off" }, { owner: false }), config).ask).toBe(0);
  // As an older program would write it, leaving the grant of another value behind.
  expect(freedom(entryOf({ ...granted, execSecurity: "full" }), config).security).toBe(1);
});

test("37: what goes past the configuration is refused when it is set, no matter who asks, with the key that says no", () => {
  const ask = (exec: Exec, change: ChoiceChange, sandboxed = false) => {
    const config = configOf(exec, sandboxed);
    return changeChoice({ config, agentId: "main", sandboxed, entry: undefined, change, asker: { owner: true }, grantor: { by: "client" }, holds: "owner" });
  };
  const set = (key: string) => ({ kind: "beyond", text: expect.stringContaining(`openclaw config set tools.exec.${key} `) as string });
  expect(ask({ security: "allowlist" }, { execSecurity: "full" })).toEqual(set("security"));
  expect(ask({ ask: "on-miss" }, { execAsk: "off" })).toEqual(set("ask"));
  expect(ask({ host: "gateway" }, { execHost: "node" })).toEqual(set("host"));
  expect(ask({}, { execHost: "gateway" }, true)).toEqual({ kind: "beyond", text: expect.stringContaining("runs in a sandbox") as string });
  expect(ask({}, { execSecurity: "full", execAsk: "off" })).toMatchObject({ kind: "allowed", widens: true });
});
