import { describe, expect, it } from "vitest";
import { createConversation } from "./conversation.ts";
import { fakeGateway, memoryStorage, settled, testPlatform } from "./gateway.fixture.ts";
import { createOutbox, type Unsent } from "./outbox.ts";
import type { Attachment } from "./state.ts";

const KEY = "agent:main:main";
const picture = (letters: number): Attachment => ({ type: "file", mimeType: "application/octet-stream", fileName: "a.bin", content: "A".repeat(letters) });
const message = (runId: string, ...attachments: Attachment[]): Unsent => ({ runId, sessionKey: KEY, ts: 1, text: "look", attachments });

/** A shelf whose writes end when the test says. */
function memoryShelf() {
  const held = new Map<string, unknown>();
  let blocked = Promise.resolve();
  return {
    held,
    /** Whether it has space. */
    hasSpace: true,
    block(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      blocked = promise;
      return resolve;
    },
    load: async (key: string) => held.get(key),
    async put(key: string, value: unknown) {
      await blocked;
      if (this.hasSpace) held.set(key, value);
      return this.hasSpace;
    },
    remove: async (key: string) => void held.delete(key),
  };
}

function fixture() {
  const [storage, shelf] = [memoryStorage(), memoryShelf()];
  const open = () => createOutbox({ storage, events: new EventTarget(), shelf });
  return { storage, shelf, open, outbox: open() };
}

describe("messages that are not accepted yet", () => {
  it("keep small attachments beside the text and large ones on the shelf; another tab finds both", async () => {
    const { outbox, open, shelf, storage } = fixture();
    expect(await outbox.put(message("small", picture(1000)))).toBe(true);
    expect(await outbox.put(message("large", picture(600_000)))).toBe(true);
    expect([...shelf.held.keys()]).toEqual(["unsent.large"]);
    expect(storage.getItem("openclaw.unsent.large")!.length).toBeLessThan(1000);
    const other = open();
    const [small, large] = ["small", "large"].map((id) => other.all().find(({ runId }) => runId === id)!);
    expect([await other.attachments(small!), await other.attachments(large!)]).toEqual([[picture(1000)], [picture(600_000)]]);
    for (const { runId } of other.all()) other.remove(runId);
    expect([shelf.held.size, storage.length]).toEqual([0, 0]);
  });

  it("leave nothing behind when they are accepted before the shelf has them", async () => {
    const { outbox, shelf, storage } = fixture();
    const release = shelf.block();
    const putting = outbox.put(message("quick", picture(600_000)));
    outbox.remove("quick");
    release();
    expect(await putting).toBe(false);
    expect([shelf.held.size, storage.length]).toEqual([0, 0]);
  });

  it("are kept as they were last when they change on their way to the shelf", async () => {
    const { outbox, shelf } = fixture();
    const release = shelf.block();
    const putting = [outbox.put(message("slow", picture(600_000))), outbox.put({ ...message("slow", picture(600_000)), error: "no" })];
    release();
    expect(await Promise.all(putting)).toEqual([true, true]);
    expect(outbox.all()).toMatchObject([{ runId: "slow", error: "no", shelved: 1, attachments: [] }]);
    expect([...shelf.held.keys()]).toEqual(["unsent.slow"]);
  });

  it("stand beside the text, as far as the browser takes them, when the shelf has no space", async () => {
    const { outbox, shelf } = fixture();
    shelf.hasSpace = false;
    expect(await outbox.put(message("large", picture(600_000)))).toBe(true);
    const [kept] = outbox.all();
    expect([kept?.shelved, await outbox.attachments(kept!)]).toEqual([undefined, [picture(600_000)]]);
  });

  it("are not stored, and leave nothing behind, when there is space for neither their text nor their files", async () => {
    const { outbox, shelf, storage } = fixture();
    storage.setItem = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
    expect(await outbox.put(message("small"))).toBe(false);
    expect(await outbox.put(message("large", picture(600_000)))).toBe(false);
    shelf.hasSpace = false;
    expect(await outbox.put(message("larger", picture(600_000)))).toBe(false);
    expect([shelf.held.size, storage.length]).toEqual([0, 0]);
  });

  it("say so when their files are gone, and are not sent without them", async () => {
    const { outbox, shelf } = fixture();
    await outbox.put(message("robbed", picture(600_000)));
    shelf.held.clear();
    const gateway = fakeGateway([]);
    const conversation = createConversation({ link: gateway.link("tab"), sessionKey: KEY, outbox, platform: testPlatform("tab") });
    conversation.open();
    await settled();
    expect(conversation.state.value.pending).toMatchObject([
      { runId: "robbed", state: "failed", images: 1, error: expect.stringMatching(/Attach them again/) },
    ]);
    expect(gateway.accepted).toEqual([]);
  });

  it("go out with the files of the shelf, once", async () => {
    const { outbox, shelf, storage } = fixture();
    await outbox.put(message("whole", picture(600_000)));
    const gateway = fakeGateway([]);
    const conversation = createConversation({ link: gateway.link("tab"), sessionKey: KEY, outbox, platform: testPlatform("tab") });
    conversation.open();
    await settled();
    expect(gateway.accepted).toEqual(["look"]);
    expect([shelf.held.size, storage.length]).toEqual([0, 0]);
  });
});
