import { expect, test } from "vitest";
import type { WireRequest } from "../format.ts";
import { completionsReader } from "./reader.ts";

const MODEL = { provider: "p", id: "m", api: "openai-completions", cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } };

/** The message of an answer with these deltas. */
function read(finish: string, ...deltas: readonly object[]) {
  const reader = completionsReader({ model: MODEL } as unknown as WireRequest, { now: 0 });
  for (const delta of deltas) reader.read({ event: "", data: JSON.stringify({ choices: [{ delta }] }) });
  reader.read({ event: "", data: JSON.stringify({ choices: [{ delta: {}, finish_reason: finish }] }) });
  const [end] = reader.read({ event: "", data: "[DONE]" }).slice(-1);
  return end?.type === "end" ? end.message : undefined;
}

test.each([
  ["a text", "x"],
  ["an object", { text: "x" }],
  ["a typed object", { type: "text", text: "x" }],
  ["a list", [{ type: "text", text: "x" }]],
  ["a list of strings", ["x"]],
])("content may be %s", (_name, content) => {
  expect(read("stop", { content })?.content).toEqual([{ type: "text", text: "x" }]);
});

test("arguments of a call may be an object", () => {
  const call = { index: 0, id: "c1", function: { name: "ls", arguments: { path: "." } } };
  expect(read("tool_calls", { tool_calls: [call] })).toMatchObject({
    stopReason: "toolUse",
    content: [{ type: "toolCall", id: "c1", name: "ls", arguments: { path: "." } }],
  });
});

test("a call in the legacy form is read", () => {
  const pieces = [{ function_call: { name: "ls", arguments: "" } }, { function_call: { arguments: '{"pa' } }, { function_call: { arguments: 'th":"."}' } }];
  expect(read("function_call", ...pieces)).toMatchObject({ stopReason: "toolUse", content: [{ type: "toolCall", name: "ls", arguments: { path: "." } }] });
});
