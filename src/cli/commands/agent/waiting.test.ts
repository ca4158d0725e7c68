import { expect, test } from "vitest";
import type { GatewayClient } from "../../../protocol/index.ts";
import { sayWhatWaits } from "./waiting.ts";

test("a question of the run's own session is said with how to answer it, and no control characters; those of others are not", () => {
  const listeners = new Map<string, (payload: never) => void>();
  const on = ((name: string, listener: (payload: never) => void) => {
    listeners.set(name, listener);
    return () => {};
  }) as unknown as GatewayClient["on"];
  let said = "";
  sayWhatWaits({ err: (text) => void (said += text) }, { on }, "run-1");
  const tell = (name: string, payload: object): void => listeners.get(name)!(payload as never);
  const ask = (sessionKey: string, command: string): void =>
    tell("exec.approval.requested", { id: "25e15b1e-aaaa-bbbb", request: { command, sessionKey }, createdAtMs: 0, expiresAtMs: 1 });
  ask("agent:main:main", "too early to be of this run");
  tell("agent", { runId: "run-2", sessionKey: "agent:other:main" });
  tell("agent", { runId: "run-1", sessionKey: "agent:main:main" });
  ask("agent:other:main", "of another session");
  expect(said).toBe("");
  ask("agent:main:main", "rm -r x\u001b[2J\nmore");
  expect(said).not.toContain("\u001b");
  expect(said).toMatch(/^waiting for approval: rm -r x.*more; decide with: openclaw approvals resolve 25e15b1e <allow-once \| allow-always \| deny>\n$/);
});
