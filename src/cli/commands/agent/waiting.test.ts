import { expect, test } from "vitest";
import type { GatewayClient } from "../../../protocol/index.ts";
import { reportPendingApprovals } from "./waiting.ts";

test("prints an approval request of this run's session with the command to answer it, without control characters; ignores other sessions", () => {
  const listeners = new Map<string, (payload: never) => void>();
  const on = ((name: string, listener: (payload: never) => void) => {
    listeners.set(name, listener);
    return () => {};
  }) as unknown as GatewayClient["on"];
  let output = "";
  reportPendingApprovals({ err: (text) => void (output += text) }, { on }, "run-1");
  const emit = (name: string, payload: object): void => listeners.get(name)!(payload as never);
  const ask = (sessionKey: string, command: string): void =>
    emit("exec.approval.requested", { id: "25e15b1e-aaaa-bbbb", request: { command, sessionKey }, createdAtMs: 0, expiresAtMs: 1 });
  ask("agent:main:main", "too early to be of this run");
  emit("agent", { runId: "run-2", sessionKey: "agent:other:main" });
  emit("agent", { runId: "run-1", sessionKey: "agent:main:main" });
  ask("agent:other:main", "of another session");
  expect(output).toBe("");
  ask("agent:main:main", "rm -r x\u001b[2J\nmore");
  expect(output).not.toContain("\u001b");
  expect(output).toMatch(/^Waiting for approval: rm -r x.*more. Decide with: openclaw approvals resolve 25e15b1e <allow-once \| allow-always \| deny>\n$/);
});
