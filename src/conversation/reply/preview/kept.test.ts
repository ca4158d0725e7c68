import { describe, expect, it } from "vitest";
import type { ChannelPreview } from "../../../protocol/index.ts";
import { settle, stage, turnEnd, type Scene } from "../stream.fixture.ts";

/** A turn with a preview whose message has an id as soon as it is posted. */
function withKept(before?: { readonly id: string | undefined }) {
  const order: string[] = [];
  const opened: (string | undefined)[] = [];
  let id = before?.id;
  const preview: ChannelPreview = {
    async update(text) {
      order.push(`show ${text}`);
      id ??= "p1";
    },
    id: () => id,
    seal: async () => id,
    async discard() {
      order.push(`discard ${id}`);
    },
  };
  const deps: NonNullable<Scene["deps"]> = {
    keepPreview: async (kept) => void order.push(`keep ${kept}`),
    ...(before ? { preview: before } : {}),
  };
  const open = ({ previewId }: { readonly previewId?: string | undefined }): ChannelPreview => (opened.push(previewId), preview);
  return { ...stage({ deps, plugin: { preview: { open, minChars: 5 } } }), order, opened };
}

describe("a preview and the process after this one", () => {
  it("is kept before it is posted, and with its id afterwards, once", async () => {
    const turn = withKept();
    turn.write("Hello you");
    await settle();
    turn.write(" there");
    turn.clock.advance(1000);
    await settle();
    expect(turn.order).toEqual(["keep undefined", "show Hello you", "keep p1", "show Hello you there"]);
  });

  it("goes on in the message that is there, also when nothing more was shown", async () => {
    const turn = withKept({ id: "p0" });
    expect(await turn.stream.finish(turnEnd(["Hello you."]))).toEqual({ payloads: [{ text: "Hello you." }], previewId: "p0" });
    expect([turn.opened, turn.order]).toEqual([["p0"], []]);
    const more = withKept({ id: "p0" });
    more.write("Hello you");
    await settle();
    expect(more.order).toEqual(["show Hello you"]);
  });

  it("that is there is taken away when the answer is nothing", async () => {
    const turn = withKept({ id: "p0" });
    expect(await turn.stream.finish(turnEnd([], { silent: true }))).toEqual({ payloads: [] });
    expect(turn.order).toEqual(["discard p0"]);
  });

  it("that may have been posted without an id makes the answer of this process a possible repeat", async () => {
    const preview: ChannelPreview = { update: async () => {}, id: () => null, seal: async () => undefined, discard: async () => {} };
    const turn = stage({ plugin: { preview: { open: () => preview, minChars: 5 } } });
    turn.write("Hello you");
    await settle();
    expect(await turn.stream.finish(turnEnd(["Hello you."]))).toEqual({ payloads: [{ text: "Hello you." }], isPreviewLost: true });
  });

  it("of which nobody knows whether it is there makes the answer a possible repeat", async () => {
    const turn = withKept({ id: undefined });
    expect(await turn.stream.finish(turnEnd(["Hello you."]))).toEqual({ payloads: [{ text: "Hello you." }], isPreviewLost: true });
  });
});
