import { describe, expect, it } from "vitest";
import type { ChannelPreview, ChannelPreviewAdapter } from "../../protocol/index.ts";
import { BLOCKS, settle, stage, turnEnd, type Scene } from "./stream.fixture.ts";

function withPreview(scene: Scene = {}, adapter: Partial<ChannelPreviewAdapter> = {}, over: Partial<ChannelPreview> = {}) {
  const shown: string[] = [];
  let opened = 0;
  const preview: ChannelPreview = {
    update: (text) => (shown.push(text), Promise.resolve()),
    seal: () => (shown.push("(sealed)"), Promise.resolve("p1")),
    discard: () => (shown.push("(discarded)"), Promise.resolve()),
    ...over,
  };
  const turn = stage({ ...scene, plugin: { ...scene.plugin, preview: { open: () => ((opened += 1), preview), minChars: 5, ...adapter } } });
  return { ...turn, shown, opened: () => opened };
}

function raise(): never {
  throw new Error("no rights");
}

describe("a preview", () => {
  it("shows the answer while it is written, and becomes it", async () => {
    const turn = withPreview();
    turn.write("Hello");
    await settle();
    turn.write(" you");
    turn.write(" there");
    await settle();
    expect(turn.shown).toEqual(["Hello"]);
    turn.clock.advance(1000);
    await settle();
    expect(await turn.stream.finish(turnEnd(["Hello you there."]))).toEqual({ payloads: [{ text: "Hello you there." }], previewId: "p1" });
    expect(turn.shown).toEqual(["Hello", "Hello you there", "(sealed)"]);
    expect(turn.opened()).toBe(1);
  });

  it("waits for enough to show", async () => {
    const turn = withPreview({}, { minChars: 20 });
    turn.write("Hello you.");
    await settle();
    expect(turn.shown).toEqual([]);
    turn.write(" And you, too.");
    await settle();
    expect(turn.shown).toEqual(["Hello you. And you, too."]);
  });

  it("never shows words that may mean silence, and goes away when they do", async () => {
    const turn = withPreview({}, { minChars: 1, intervalMs: 0 });
    for (const sign of "NO_REPLY, really") {
      turn.write(sign);
      turn.clock.advance(1);
      await settle();
    }
    expect(turn.shown).toEqual([]);
    expect(await turn.stream.finish(turnEnd([], { silent: true }))).toEqual({ payloads: [] });
    const late = withPreview({}, { minChars: 1, intervalMs: 0 });
    for (const sign of "All done. NO_REPLY") {
      late.write(sign);
      late.clock.advance(1);
      await settle();
    }
    expect(late.shown.join("")).not.toContain("NO");
    await late.stream.finish(turnEnd([], { silent: true }));
    expect(late.shown.at(-1)).toBe("(discarded)");
  });

  it("shows no directives and no more than fits", async () => {
    const turn = withPreview({}, { maxChars: 12 });
    turn.write("[[reply_to_current]] Hello\nMEDIA:https://x.test/a.png\nyou there, all of you");
    await settle();
    expect(turn.shown).toEqual(["Hello\nyou t…"]);
  });

  it("becomes the text before a call, and what follows is shown in another one", async () => {
    const turn = withPreview();
    turn.write("I look.");
    await settle();
    const early = (await turn.stream.between("I look."))!;
    expect(early).toMatchObject({ payloads: [{ text: "I look." }], previewId: "p1" });
    early.committed();
    turn.tool();
    turn.write("Found it.");
    turn.clock.advance(1000);
    await settle();
    expect([turn.shown, turn.opened()]).toEqual([["I look.", "(sealed)", "Found it."], 2]);
    expect((await turn.stream.finish(turnEnd(["I look.", "Found it."]))).payloads).toEqual([{ text: "Found it." }]);
  });

  it("does not overtake a text before it that is not on disk yet", async () => {
    const order: string[] = [];
    const turn = withPreview({ deps: { keepPreview: async (id) => void order.push(`keep ${id}`) } });
    const early = (await turn.stream.between("I look."))!;
    turn.write("Found it.");
    await settle();
    expect([order, turn.shown]).toEqual([[], ["(sealed)"]]);
    early.committed();
    turn.clock.advance(1000);
    await settle();
    expect([order, turn.shown.at(-1)]).toEqual([["keep undefined"], "Found it."]);
  });

  it("shows nothing of a text that was taken back, also before there is another", async () => {
    const turn = withPreview();
    turn.write("Let me think about this");
    await settle();
    turn.restart();
    turn.write("");
    turn.clock.advance(1000);
    await settle();
    expect(turn.shown.at(-1)).toBe("…");
    turn.write("Yes.");
    turn.clock.advance(1000);
    await settle();
    expect(turn.shown).toEqual(["Let me think about this", "…", "Yes."]);
  });

  it("comes below the thoughts that led to it, and does not become them", async () => {
    const turn = withPreview({ levels: { reasoning: "on" } });
    turn.think("Hmm");
    turn.write("It is so.");
    await settle();
    expect(turn.texts()).toEqual(["Reasoning:\nHmm"]);
    expect(await turn.stream.finish(turnEnd(["It is so."]))).toEqual({ payloads: [{ text: "It is so." }], previewId: "p1" });
  });

  it("that fails is tried less and less often, and the answer does not suffer", async () => {
    const tries: number[] = [];
    let second = 0;
    const turn = withPreview({}, {}, { update: () => (tries.push(second), Promise.reject(new Error("429"))), seal: () => Promise.reject(new Error("gone")) });
    turn.write("Hello");
    for (second = 0; second < 200; second += 1) {
      await settle();
      turn.write(" you");
      turn.clock.advance(1000);
    }
    // Noted just before the second is over.
    expect(tries).toEqual([0, 1, 5, 13, 29, 59]);
    expect(await turn.stream.finish(turnEnd(["Hello."]))).toEqual({ payloads: [{ text: "Hello." }] });
  });

  it("that never answers does not hold the answer up for long", async () => {
    const turn = withPreview({}, {}, { update: () => new Promise<void>(() => {}), seal: () => new Promise<string>(() => {}) });
    turn.write("Hello");
    const end = turn.stream.finish(turnEnd(["Hello."]));
    for (let round = 0; round < 4; round += 1) {
      await settle();
      turn.clock.advance(5000);
    }
    expect(await end).toEqual({ payloads: [{ text: "Hello." }] });
  });

  it("takes the place of blocks, unless the channel asks for those", async () => {
    const general = withPreview({ cfg: { agents: { defaults: { ...BLOCKS.agents!.defaults, blockStreamingDefault: "on" } } } });
    const explicit = withPreview({ cfg: BLOCKS });
    for (const turn of [general, explicit]) turn.write("First paragraph here.\n\nEnd.");
    await settle();
    expect([general.said.length, general.shown.length, explicit.said.length, explicit.shown.length]).toEqual([0, 1, 1, 0]);
  });

  it("shows thoughts at the level stream only, until words come", async () => {
    const [off, live] = [withPreview({ levels: { reasoning: "on" } }), withPreview({ levels: { reasoning: "stream" } })];
    for (const turn of [off, live]) turn.think("Let me see");
    await settle();
    expect([off.shown, live.shown]).toEqual([[], ["Reasoning:\nLet me see"]]);
    live.write("It is so.");
    live.clock.advance(1000);
    await settle();
    expect(live.shown.at(-1)).toBe("It is so.");
    expect((await live.stream.finish(turnEnd(["It is so."]))).payloads).toEqual([{ text: "It is so." }]);
  });

  it("goes away when the answer is a file, when it was stopped and when the turn is left", async () => {
    const [file, stopped, left] = [withPreview(), withPreview(), withPreview()];
    for (const turn of [file, stopped, left]) turn.write("Hello you");
    await settle();
    expect(await file.stream.finish(turnEnd(["MEDIA:https://x.test/a.png"]))).not.toHaveProperty("previewId");
    expect(await stopped.stream.finish(turnEnd(["Hello you"], { status: "aborted" }))).toEqual({ payloads: [] });
    await left.stream.abandon();
    expect([file, stopped, left].map((turn) => turn.shown.at(-1))).toEqual(["(discarded)", "(discarded)", "(discarded)"]);
  });

  it("that cannot be opened leaves everything else as it is", async () => {
    const turn = withPreview({ cfg: { agents: { defaults: { ...BLOCKS.agents!.defaults, blockStreamingDefault: "on" } } } }, { open: () => raise() });
    turn.write("First paragraph here.\n\nEnd.");
    expect((await turn.stream.finish(turnEnd(["First paragraph here.\n\nEnd."]))).payloads).toEqual([{ text: "End." }]);
    expect(turn.texts()).toEqual(["First paragraph here."]);
  });

  it("is not opened for heartbeats, nor at the end of a turn that showed nothing", async () => {
    const [heartbeat, quick] = [withPreview({ deps: { isHeartbeat: true } }), withPreview()];
    heartbeat.write("Hello you");
    await heartbeat.stream.finish(turnEnd(["Hello you"]));
    await quick.stream.finish(turnEnd(["Hello you"]));
    expect([heartbeat.opened(), quick.opened()]).toEqual([0, 0]);
  });
});

it.each([
  ["off", undefined],
  ["first", "m1"],
  ["all", "m1"],
] as const)("with replyToMode %s a preview names the message that it answers: %s", async (mode, replyToId) => {
  const opened: unknown[] = [];
  const preview: ChannelPreview = { update: async () => {}, seal: async () => "p1", discard: async () => {} };
  const open = (context: { readonly replyToId?: string | undefined }): ChannelPreview => (opened.push(context.replyToId), preview);
  stage({ plugin: { preview: { open }, threading: { resolveReplyToMode: () => mode } } }).write("Hello there.");
  await settle();
  expect(opened).toEqual([replyToId]);
});

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
