import { expect, test } from "vitest";
import { modelItems, sessionItems } from "./answers.ts";

test("models that can answer stand first, and the others say that they have no key", () => {
  const model = (id: string, hasKey?: boolean) => ({ id, name: id.toUpperCase(), provider: "acme", ...(hasKey === undefined ? {} : { hasKey }) });
  expect(modelItems({ models: [model("a", false), model("b", true), model("c"), model("d", false)] }).map(({ value, detail }) => [value, detail])).toEqual([
    ["acme/b", "B"],
    ["acme/c", "C"],
    ["acme/a", "no key · A"],
    ["acme/d", "no key · D"],
  ]);
});

test("a session is identified by its name, whatever else is known about it", () => {
  const row = { key: "agent:main:x", kind: "direct" as const, updatedAt: null, name: "Groceries", derivedTitle: "0123 (2026-01-01)" };
  const answer = { ts: 0, path: "", count: 1, defaults: { modelProvider: null, model: null, contextTokens: null }, sessions: [row] };
  expect(sessionItems(answer as never)).toEqual([{ value: "agent:main:x", label: "x", detail: "Groceries" }]);
});
