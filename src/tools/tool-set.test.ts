import { expect, test } from "vitest";
import type { ChannelPlugin } from "../protocol/index.ts";
import { channelPolicy } from "./tool-set.ts";

type Resolve = NonNullable<NonNullable<ChannelPlugin["groups"]>["resolveToolPolicy"]>;

function setup(resolveToolPolicy: Resolve | undefined) {
  const warnings: string[] = [];
  const of = (sessionKey: string, spawnedBy?: string) =>
    channelPolicy(
      (id) => (id === "paper" ? { groups: resolveToolPolicy ? { resolveToolPolicy } : {} } : undefined),
      { config: {}, sessionKey, spawnedBy, accountId: "main", sender: { id: "ada" } },
      { warn: (text: string) => void warnings.push(text) },
    );
  return { of, warnings };
}

const GROUP = "agent:main:paper:group:den";

test("the channel's plugin is asked about its own group, with ids only", () => {
  const asked: unknown[] = [];
  const { of } = setup((params) => {
    asked.push(params);
    return { deny: ["exec"] };
  });
  const policy = { at: "the plugin of paper for the group den", deny: ["exec"] };
  expect(of(GROUP)).toEqual(policy);
  expect(of("agent:main:subagent:1", GROUP)).toEqual(policy);
  expect(asked[0]).toEqual({ cfg: {}, groupId: "den", accountId: "main", senderId: "ada" });
});

test("direct chats, other channels and plugins without an opinion leave it to the configuration", () => {
  const { of } = setup(() => undefined);
  expect([of(GROUP), of("agent:main:paper:direct:ada"), of("agent:main:other:group:den"), setup(undefined).of(GROUP)]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("a plugin that fails allows nothing in its group", () => {
  const { of, warnings } = setup(() => {
    throw new Error("broken");
  });
  expect(of(GROUP)).toEqual({ at: "the plugin of paper for the group den", deny: ["*"] });
  expect(warnings[0]).toContain("broken");
});
