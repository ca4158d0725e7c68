import type { MethodName, MethodResult } from "openclaw/client";
import { expect, test } from "vitest";
import { createEditor, type EditorDeps } from "./editor.ts";

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
  const editor = createEditor({ link: { request } as unknown as EditorDeps["link"], kept, failureText: String, later: () => () => undefined });
  return { editor, rename: (next: string) => (label = next) };
}

test("what plugins changed about the form is there after the next load, and the form stays the same object while nothing changed", async () => {
  const { editor, rename } = gateway();
  await editor.load();
  const { hints, schema } = editor.state.value;
  expect(hints).toEqual({ plugins: { label: "First" } });
  await editor.load();
  expect(editor.state.value.hints).toBe(hints);
  expect(editor.state.value.schema).toBe(schema);
  rename("Second");
  await editor.load();
  expect(editor.state.value.hints).toEqual({ plugins: { label: "Second" } });
});
