import { expect, test } from "vitest";
import { expandChannelConfigs, withCommonKeys } from "./channel-keys.ts";

type Shown = { properties: Record<string, Record<string, unknown>>; $defs: Record<string, { properties: Record<string, unknown> }> };
const expanded = (schema: object): Shown => withCommonKeys(schema as Record<string, unknown>) as unknown as Shown;

test("own keys come behind enabled and name, limits are added to common keys, and null takes one out", () => {
  const { properties } = expanded({ properties: { token: { type: "string" }, textChunkLimit: { maximum: 2000 }, commands: null } });
  expect(Object.keys(properties).slice(0, 4)).toEqual(["enabled", "name", "token", "textChunkLimit"]);
  expect(properties["textChunkLimit"]).toMatchObject({ type: "integer", minimum: 1, maximum: 2000 });
  expect(properties["commands"]).toBeUndefined();
  const accounts = properties["accounts"] as { additionalProperties: { properties: object } };
  expect(Object.keys(accounts.additionalProperties.properties)).toEqual(
    Object.keys(properties).filter((key) => key !== "accounts" && key !== "defaultAccount"),
  );
});

test("a key that takes other kinds of values replaces the common one", () => {
  const { properties } = expanded({ properties: { capabilities: { anyOf: [{ type: "array" }, { type: "object" }] }, dmPolicy: { enum: ["open"] } } });
  expect(properties["capabilities"]).toEqual({ description: "Names.", anyOf: [{ type: "array" }, { type: "object" }] });
  expect(properties["dmPolicy"]).toEqual({ description: "Who may write in private. Default pairing.", enum: ["open"] });
});

test("groups get the channel's own keys beside the common ones", () => {
  const { $defs } = expanded({ $defs: { group: { properties: { topics: { type: "object" } } }, topic: { properties: {} } } });
  expect(Object.keys($defs["group"]!.properties)).toEqual(
    expect.arrayContaining(["topics", "requireMention", "allowFrom", "skills", "systemPrompt", "tools", "toolsBySender"]),
  );
  expect($defs["topic"]).toEqual({ properties: {} });
});

test("only what asks for the common keys gets them", () => {
  const plain = { schema: { properties: { a: {} } } };
  expect(expandChannelConfigs({ plain, full: { common: true } })).toMatchObject({ plain, full: { schema: { properties: { dmPolicy: {} } } } });
  expect(expandChannelConfigs("nonsense")).toBe("nonsense");
});
