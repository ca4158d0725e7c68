import { expect, test } from "vitest";
import { AppError } from "../../src/base/errors.ts";
import { openAgentFixture, said } from "../harness/agent-fixture.ts";

test("an answer that does not fit on the disk fails the turn, and what the user wrote stands in the conversation", async () => {
  await using at = await openAgentFixture({ says: ["an answer that is too long"] });
  const commit = at.store.commit.bind(at.store);
  const full = new AppError("DISK_FULL", "the disk is full; free some space");
  const isTooLong = (writes: unknown): boolean => JSON.stringify(writes).includes("too long");
  Object.assign(at.store, { commit: (writes: Parameters<typeof commit>[0]) => (isTooLong(writes) ? Promise.reject(full) : commit(writes)) });
  await expect(at.turn("hello")).rejects.toThrow(/the disk is full/);
  expect((await at.transcript()).map((message) => [message.role, said(message)])).toEqual([["user", "hello"]]);
});
