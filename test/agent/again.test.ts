import { expect, test } from "vitest";
import { openAgentFixture } from "../harness/agent-fixture.ts";

test("a message is answered once more only while it is the last one", async () => {
  await using fixture = await openAgentFixture({ says: ["first", "second"] });
  await fixture.turn("hi");
  await expect(fixture.turn("hi", { again: true })).rejects.toThrow("load it again and retry");
  expect(fixture.requests).toHaveLength(1);
});
