import type { MethodName, MethodResult } from "openclaw/client";
import { expect, test } from "vitest";
import { createDesk, type DeskDeps } from "./desk.ts";

/** A gateway whose file never changes, and whose plugins may. */
function gateway() {
  let label = "First";
  const answers: Partial<Record<MethodName, () => unknown>> = {
    "config.get": (): Partial<MethodResult<"config.get">> => ({ path: "openclaw.json", exists: true, raw: "{}\n", config: {}, hash: "h1" }),
    "config.schema": () => ({
      schema: { properties: { plugins: {} } },
      uiHints: { plugins: { label } },
      version: "1",
      hash: `hash of ${label}`,
      generatedAt: "",
    }),
    "config.check": () => ({ valid: true, issues: [], warnings: [], changes: [], reload: { kind: "none", paths: [] } }),
  };
  const request = (method: MethodName) => Promise.resolve(answers[method]?.());
  const kept = { get: () => undefined, set: () => undefined };
  const desk = createDesk({ link: { request } as unknown as DeskDeps["link"], kept, failureText: String, later: () => () => undefined });
  return { desk, rename: (next: string) => (label = next) };
}

test("what plugins changed about the form is there after the next load, and the form stays the same object while nothing changed", async () => {
  const { desk, rename } = gateway();
  await desk.load();
  const { hints, schema } = desk.state.value;
  expect(hints).toEqual({ plugins: { label: "First" } });
  await desk.load();
  expect(desk.state.value.hints).toBe(hints);
  expect(desk.state.value.schema).toBe(schema);
  rename("Second");
  await desk.load();
  expect(desk.state.value.hints).toEqual({ plugins: { label: "Second" } });
});
