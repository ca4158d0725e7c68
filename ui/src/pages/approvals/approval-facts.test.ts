import { expect, test } from "vitest";
import { deciderOf, originOf, outcomeOf, policyWords, resultOf, type AgentPolicy, type HistoryEntry } from "./approval-facts.ts";

const entry = (over: Partial<HistoryEntry>): HistoryEntry => ({
  id: "1",
  kind: "exec",
  request: {
    command: "ls",
    cwd: null,
    environment: null,
    host: "gateway",
    nodeId: null,
    security: null,
    ask: null,
    agentId: "main",
    resolvedPath: null,
    sessionKey: "agent:main:main",
    always: null,
  },
  state: "decided",
  decision: "allow-once",
  decidedBy: "Firefox on Linux",
  createdAtMs: 1,
  decidedAtMs: 2,
  outcome: null,
  ...over,
});

test("a decision is named with who made it and what became of the command", () => {
  const allowed = entry({ outcome: { state: "ended", exitCode: 2, why: null } });
  expect([outcomeOf(allowed).word, deciderOf(allowed), resultOf(allowed)]).toEqual(["Allowed once", "Firefox on Linux", "exit code 2"]);
  expect(outcomeOf(entry({ decision: "allow-always" })).word).toBe("Always allowed");
  expect(outcomeOf(entry({ outcome: { state: "lost", exitCode: null, why: null } })).word).toBe("Allowed, outcome unknown");
});

test("requests that nobody decided are not called decisions", () => {
  const expired = entry({ state: "expired", decision: null, decidedBy: null });
  expect([outcomeOf(expired).word, deciderOf(expired)]).toEqual(["Expired", "Nobody"]);
  expect(deciderOf(entry({ decision: "deny", decidedBy: "restart" }))).toBe("Gateway restart");
});

test("a request names its conversation, or that it came from a client, and the node it was for", () => {
  expect(originOf(entry({}))).toBe("Main chat");
  expect(originOf(entry({ request: { ...entry({}).request, sessionKey: null, host: "node" } }))).toBe("A client, on a node");
});

test("the rules of an agent are sentences", () => {
  const policy = (over: Partial<AgentPolicy>): AgentPolicy => ({
    agentId: "main",
    host: "gateway",
    sandboxed: false,
    security: "allowlist",
    ask: "on-miss",
    askFallback: "deny",
    autoAllowSkills: false,
    allowlist: [],
    ...over,
  });
  expect(policyWords(policy({}))).toBe("Commands on the allowlist run on the gateway’s machine. All others need approval.");
  expect(policyWords(policy({ ask: "always", askFallback: "full" }))).toBe(
    "Commands run on the gateway’s machine. Every command needs approval. Without an answer, commands run anyway.",
  );
  expect(policyWords(policy({ security: "full", allowlist: [{ pattern: "/usr/bin/git" }] }))).toBe(
    "Every command runs on the gateway’s machine without asking. 1 allowlist entry.",
  );
  expect(policyWords(policy({ host: "sandbox", sandboxed: true }))).toBe("Commands run in a sandbox without asking.");
  expect(policyWords(policy({ security: "deny" }))).toBe("No command may run.");
});
