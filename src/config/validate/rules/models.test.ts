import { expect, test } from "vitest";
import { formatIssue, validateConfig } from "../index.ts";

const found = (params: object) =>
  validateConfig({ agents: { defaults: { models: { "openai/gpt-5.2": { params } } } } }, { sections: {} }).map(
    (issue) => `${issue.severity} ${formatIssue(issue)}`,
  );

test("a parameter that no request carries is named, with the nearest one that is known", () => {
  expect(found({ temprature: 0.2, top_p: 0.9, extraBody: { foo: 1 } })).toEqual([
    'warning agents.defaults.models["openai/gpt-5.2"].params.temprature: is not a known parameter and is not sent; put provider-specific fields into extraBody; did you mean "temperature"?',
  ]);
});

test("answers come as server-sent events only", () => {
  expect(found({ transport: "auto" })).toEqual([]);
  expect(found({ transport: "websocket" })).toEqual([
    'warning agents.defaults.models["openai/gpt-5.2"].params.transport: "websocket" is not available: answers come as server-sent events',
  ]);
});
