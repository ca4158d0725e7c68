import { describe, expect, test } from "vitest";
import { fakeChannel, fakeManager, message, quiet } from "./fake-channel.fixture.ts";

const two = { channels: { fake: { accounts: { a: { token: "1" }, b: { token: "2" } } } } };

describe("generations", () => {
  test("status of an older connection is ignored, and its messages are refused", async () => {
    const fake = fakeChannel();
    const manager = fakeManager([fake.plugin]);
    await manager.channels.start();
    await quiet();
    await manager.channels.restart("fake");
    await quiet();
    const [old, current] = fake.runs;
    old!.ctx.setStatus({ accountId: "default", connected: true, lastError: "ghost" });
    await expect(old!.ctx.inbound!.accept(message("1"))).rejects.toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining("connection 1") });
    current!.ctx.setStatus({ accountId: "default", connected: true, mode: "polling" });
    await current!.ctx.inbound!.accept(message("2"));
    expect(manager.accepted).toEqual([{ channel: "fake", accountId: "default", id: "2" }]);
    expect(manager.channels.accounts()[0]!.snapshot).toMatchObject({ connected: true, lastError: null, mode: "polling" });
  });

  test("a connection that did not stop counts as old", async () => {
    const fake = fakeChannel({ stops: false });
    const manager = fakeManager([fake.plugin]);
    await manager.channels.start();
    await quiet();
    const stopping = manager.channels.stopAccount("fake");
    await quiet();
    await fake.runs[0]!.ctx.inbound!.accept(message("while it stops"));
    manager.clock.advance(10_000);
    await stopping;
    await expect(fake.runs[0]!.ctx.inbound!.accept(message("after"))).rejects.toMatchObject({ code: "UNAVAILABLE" });
    fake.runs[0]!.ctx.setStatus({ accountId: "default", connected: true });
    expect(manager.accepted.map(({ id }) => id)).toEqual(["while it stops"]);
    expect(manager.channels.accounts()[0]!.snapshot).toMatchObject({ connected: false });
  });

  test("an account cannot report for another one", async () => {
    const fake = fakeChannel();
    const manager = fakeManager([fake.plugin], two);
    await manager.channels.start();
    await quiet();
    fake.runs[0]!.ctx.setStatus({ accountId: "b", connected: true });
    expect(manager.channels.accounts().map(({ snapshot }) => [snapshot.accountId, snapshot.connected])).toEqual([
      ["a", true],
      ["b", undefined],
    ]);
  });
});
