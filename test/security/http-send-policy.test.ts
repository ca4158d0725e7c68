import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { openStore } from "../../src/store/index.ts";
import { ALL_ON, startSurface, TOKEN, type TestSurface } from "../harness/http-surface.ts";

const BLOCKED = { error: { message: "send blocked by session policy", type: "invalid_request_error" } };

async function open(config: OpenClawConfig): Promise<TestSurface & { setPolicy(key: string, policy: "allow" | "deny"): Promise<unknown> }> {
  const folder = mkdtempSync(join(tmpdir(), "send-policy-"));
  const store = await openStore({ stateDir: folder, clock: systemClock });
  const surface = await startSurface({ config: { ...ALL_ON, ...config }, store });
  return {
    ...surface,
    setPolicy: (key, sendPolicy) => store.write("sessions.put", { key, agentId: "main", entry: { sessionId: "s1", updatedAt: 1, sendPolicy } }),
    async [Symbol.asyncDispose]() {
      await surface[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const ENDPOINTS = [
  ["/v1/chat/completions", { model: "openclaw", messages: [{ role: "user", content: "hello" }] }],
  ["/v1/chat/completions", { model: "openclaw", messages: [{ role: "user", content: "hello" }], stream: true }],
  ["/v1/responses", { model: "openclaw", input: "hello" }],
  ["/v1/responses", { model: "openclaw", input: "hello", stream: true }],
] as const;

const post = (surface: TestSurface, path: string, body: object, session = "notes") => {
  const headers = { "content-type": "application/json", "x-openclaw-session-key": session };
  return surface.ask(path, { method: "POST", token: TOKEN, headers, body: JSON.stringify(body) });
};

test.each(ENDPOINTS)("%s: a session that may not be written to takes nothing, whatever its rules say (%j)", async (path, body) => {
  await using surface = await open({});
  await surface.setPolicy("agent:main:notes", "deny");
  const refused = await post(surface, path, body);
  expect([refused.status, refused.json()]).toEqual([400, BLOCKED]);
  expect(surface.responder.requests).toEqual([]);
  expect((await post(surface, path, body, "other")).status).toBe(200);
});

test.each(ENDPOINTS)("%s: rules of session.sendPolicy hold, and a session's own setting wins over them (%j)", async (path, body) => {
  const rules = [{ action: "deny" as const, match: { keyPrefix: "no" } }];
  await using surface = await open({ session: { sendPolicy: { default: "allow", rules } } });
  expect((await post(surface, path, body)).status).toBe(400);
  expect((await post(surface, path, body, "yes")).status).toBe(200);
  await surface.setPolicy("agent:main:notes", "allow");
  expect((await post(surface, path, body)).status).toBe(200);
});
