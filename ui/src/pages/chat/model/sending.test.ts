import { describe, expect, it } from "vitest";
import { createSignal } from "../../../base/signal.ts";
import type { LinkState } from "../../../link/link.ts";
import { memoryStorage, settled } from "./gateway.fixture.ts";
import { createOutbox, type Unsent } from "./outbox.ts";
import { createSending, type SendingOptions } from "./sending.ts";

const KEY = "agent:main:main";
const LIMIT = 100_000;
const message = (runId: string, letters = 0, sessionKey = KEY): Unsent => ({
  runId,
  sessionKey,
  ts: Number(runId.match(/\d+/)?.[0] ?? 1),
  text: `text of ${runId}`,
  attachments: letters === 0 ? [] : [{ type: "file", mimeType: "a/b", fileName: "a.bin", content: "A".repeat(letters) }],
});

const busy = (retryAfterMs: number): Error => Object.assign(new Error("busy"), { details: { protocolCode: "UNAVAILABLE", retryable: true, retryAfterMs } });
const lost = (closeCode: number): Error => Object.assign(new Error("the connection was closed"), { details: { closeCode, reason: "" } });

type Outcome = { readonly code: number; readonly afterMs: number } | { readonly retryAfterMs: number } | "accept";

/** A line whose other end does with each message what the test says: `accept`, ask for it later, or break with a code after a while. Waits do not end. */
function fixture({ storage = memoryStorage() } = {}) {
  const state = createSignal<LinkState>({ kind: "open" });
  const sent: string[] = [];
  const options: unknown[] = [];
  let outcome: (runId: string) => Outcome = () => "accept";
  let time = 0;
  const request = async (_method: string, { idempotencyKey }: { readonly idempotencyKey: string }, extra: unknown): Promise<object> => {
    sent.push(idempotencyKey);
    options.push(extra);
    await Promise.resolve();
    const what = outcome(idempotencyKey);
    if (what === "accept") return { runId: idempotencyKey, status: "started" };
    if ("retryAfterMs" in what) throw busy(what.retryAfterMs);
    time += what.afterMs;
    state.set({ kind: "lost", message: "gone", retryAt: undefined });
    throw lost(what.code);
  };
  const outbox = createOutbox({ storage, events: new EventTarget() });
  const link = { state, hello: { policy: { maxPayload: LIMIT } }, request } as unknown as SendingOptions["link"];
  const nothing = (): void => undefined;
  const open = () =>
    createSending({ link, outbox, sessionKey: KEY, now: () => time, count: () => 1, place: () => 0, changed: nothing, accepted: nothing, wait: nothing });
  const sending = open();
  function join(): void {
    state.set({ kind: "open" });
    sending.resume();
  }
  return {
    outbox,
    sending,
    sent,
    options,
    storage,
    decide: (next: typeof outcome) => void (outcome = next),
    /** Lets the line come back as often as it is lost; gives how often that was. */
    async reconnect(most = 20): Promise<number> {
      let times = 0;
      for (await settled(); state.value.kind === "lost" && times < most; await settled()) {
        times += 1;
        join();
      }
      return times;
    },
    join,
  };
}

describe("a message that cannot be sent", () => {
  it("is refused with its size and the limit when it is larger than the gateway takes, and never goes out", async () => {
    const { sending, sent, outbox } = fixture();
    sending.add(message("large", LIMIT));
    await settled();
    const error = expect.stringMatching(/would be 102\.\d kB when sent; the gateway accepts up to 100 kB.*Shorten it or remove files/);
    expect(sending.shown()).toMatchObject([{ runId: "large", state: "failed", error, images: 1 }]);
    expect(outbox.all()).toMatchObject([{ runId: "large", error }]);
    expect(sent).toEqual([]);
  });

  it("fails after the connection broke twice in a row as soon as it was sent; what is behind it goes out", async () => {
    const { sending, sent, decide, reconnect, outbox } = fixture();
    decide((runId) => (runId === "bad-1" ? { code: 1006, afterMs: 10 } : "accept"));
    for (const runId of ["bad-1", "good-2"]) sending.add(message(runId));
    await outbox.put(message("other-3", 0, "agent:main:other"));
    expect(await reconnect()).toBe(2);
    expect(sent).toEqual(["bad-1", "bad-1", "good-2", "other-3"]);
    expect(sending.shown()).toMatchObject([
      { runId: "bad-1", state: "failed", error: expect.stringMatching(/dropped twice while sending this/) },
      { runId: "good-2", state: "accepted" },
    ]);
    expect(outbox.all()).toMatchObject([{ runId: "bad-1" }]);
  });

  it("is tried again when the user asks for it", async () => {
    const { sending, sent, decide, reconnect } = fixture();
    decide(() => ({ code: 1006, afterMs: 10 }));
    sending.add(message("bad"));
    await reconnect();
    decide(() => "accept");
    sending.retry("bad");
    await settled();
    expect(sent).toHaveLength(3);
    expect(sending.shown()).toMatchObject([{ runId: "bad", state: "accepted" }]);
  });

  it("fails at once when the connection was closed because it is too large", async () => {
    const { sending, sent, decide, reconnect } = fixture();
    decide(() => ({ code: 1009, afterMs: 10 }));
    sending.add(message("bad"));
    await reconnect();
    expect(sent).toEqual(["bad"]);
    expect(sending.shown()).toMatchObject([{ state: "failed", error: expect.stringMatching(/larger than the gateway/) }]);
  });

  it("fails for another session, too, and is not sent again from here", async () => {
    const { sending, sent, decide, reconnect, outbox } = fixture();
    decide(() => ({ code: 1006, afterMs: 10 }));
    await outbox.put(message("other", 0, "agent:main:other"));
    sending.resume();
    await reconnect();
    expect(sent).toEqual(["other", "other"]);
    expect(outbox.all()).toMatchObject([{ runId: "other", error: expect.stringMatching(/dropped twice/) }]);
  });
});

describe("a message whose connection is lost", () => {
  it.each([
    ["long after it was sent", { code: 1006, afterMs: 60_000 }],
    ["because the gateway restarts", { code: 1012, afterMs: 10 }],
  ])("%s is not to blame, however often", async (_why, outcome) => {
    const { sending, sent, decide, reconnect } = fixture();
    let left = 6;
    decide(() => (left-- > 0 ? outcome : "accept"));
    sending.add(message("patient"));
    await reconnect();
    expect(sent).toHaveLength(7);
    expect(sending.shown()).toMatchObject([{ runId: "patient", state: "accepted" }]);
  });

  it("at once, but not twice in a row, goes out", async () => {
    const { sending, sent, decide, reconnect } = fixture();
    const delays = [10, 60_000, 10];
    decide(() => {
      const afterMs = delays.shift();
      return afterMs === undefined ? "accept" : { code: 1006, afterMs };
    });
    sending.add(message("unlucky"));
    await reconnect();
    expect(sent).toHaveLength(4);
    expect(sending.shown()).toMatchObject([{ state: "accepted" }]);
  });

  it("goes out as soon as the next connection is there, although it had been asked to wait on the last one", async () => {
    const { sending, sent, decide, join, outbox } = fixture();
    for (const kept of [message("first-1"), message("other-2", 0, "agent:main:other")]) await outbox.put(kept);
    decide((runId) => {
      if (runId === "first-1") return { retryAfterMs: 60_000 };
      decide(() => "accept");
      // The new connection is there before the page learns that a message was lost with the last one.
      queueMicrotask(join);
      return { code: 1006, afterMs: 10 };
    });
    sending.resume();
    await settled();
    expect(sent).toEqual(["first-1", "other-2", "first-1", "other-2"]);
    expect(sending.shown()).toMatchObject([{ runId: "first-1", state: "accepted" }]);
  });

  it("is sent again from here only, and has as long as a slow line takes", async () => {
    const { sending, options } = fixture();
    sending.add(message("small"));
    sending.add(message("large", 90_000));
    await settled();
    expect(options).toEqual([
      { resend: false, timeoutMs: expect.closeTo(30_000, -3) },
      { resend: false, timeoutMs: expect.closeTo(33_600, -3) },
    ]);
  });
});

describe("a message that is offered", () => {
  it("goes out when this browser keeps it", async () => {
    const { sending, sent } = fixture();
    expect(await sending.offer(message("kept"))).toBe(true);
    await settled();
    expect(sent).toEqual(["kept"]);
  });

  it("is not taken when this browser has no space for it", async () => {
    const storage = memoryStorage();
    storage.setItem = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
    const { sending, sent } = fixture({ storage });
    expect(await sending.offer(message("homeless"))).toBe(false);
    await settled();
    expect([sent, sending.shown()]).toEqual([[], []]);
  });
});
