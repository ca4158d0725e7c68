import type { MethodName, MethodResult } from "openclaw/client";
import { expect, test } from "vitest";
import type { Check } from "./draft.ts";
import { createEditor, type EditorDeps } from "./editor.ts";

/** A gateway whose file and plugins can be changed, and which may stop while it saves. */
function gateway() {
  let label = "First";
  let file = { raw: "{}\n", hash: "h1" };
  let lost: { readonly before: "the file is written" | "the answer comes" } | undefined;
  const answers: Partial<Record<MethodName, () => unknown>> = {
    "config.get": (): Partial<MethodResult<"config.get">> => ({ path: "openclaw.json", exists: true, config: {}, ...file }),
    "config.schema": () => ({
      schema: { properties: { plugins: {} } },
      uiHints: { plugins: { label } },
      version: "1",
      hash: `hash of ${label}`,
      generatedAt: "",
    }),
    "config.check": () => ({ valid: true, issues: [], warnings: [], changes: [], reload: { kind: "none", paths: [] } }),
  };
  const request = async (method: MethodName, params: { readonly raw?: string }) => {
    if (method !== "config.set") return answers[method]?.();
    if (params.raw !== undefined && lost?.before !== "the file is written") file = { raw: params.raw, hash: "h2" };
    if (lost) throw new Error("the gateway stopped while this config.set request was processed");
    return { ok: true };
  };
  const kept = { get: () => undefined, set: () => undefined };
  const editor = createEditor({ link: { request } as unknown as EditorDeps["link"], kept, failureText: String, later: () => () => undefined });
  return {
    editor,
    rename: (next: string) => (label = next),
    write: (raw: string, hash: string) => (file = { raw, hash }),
    stop: (before: NonNullable<typeof lost>["before"]) => (lost = { before }),
  };
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

const CHECK: Check = { valid: true, issues: [], warnings: [], changes: [], reload: { kind: "none", paths: [] } } as unknown as Check;

test("a file that someone else changed into what is written here is no conflict, and nothing is left to save", async () => {
  const { editor, write } = gateway();
  await editor.load();
  editor.draft.write('{ "a": 1 }\n');
  write('{ "a": 1 }\n', "h2");
  await editor.load();
  expect([editor.state.value.conflict, editor.draft.changed, editor.draft.state.value.baseHash]).toEqual([undefined, false, "h2"]);
});

test("a save at which the gateway stopped counts as done when the file has it, and as failed when it has not", async () => {
  const { editor, stop } = gateway();
  await editor.load();
  stop("the answer comes");
  editor.draft.write('{ "a": 1 }\n');
  expect([await editor.save(CHECK), editor.draft.changed]).toEqual([true, false]);
  stop("the file is written");
  editor.draft.write('{ "a": 2 }\n');
  await expect(editor.save(CHECK)).rejects.toThrow("stopped while");
  expect([editor.draft.state.value.text, editor.draft.changed]).toEqual(['{ "a": 2 }\n', true]);
});
