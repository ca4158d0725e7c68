import { describe, expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import type { QueueMode } from "../sessions/index.ts";
import type { Item } from "./items.ts";
import { createSessionLane, type ActiveTurn, type Batch, type SessionLane } from "./lanes.ts";

interface Lab {
  readonly lane: SessionLane;
  readonly clock: ReturnType<typeof manualClock>;
  readonly started: string[][];
  readonly summarised: string[][];
  readonly dropped: string[];
  readonly steered: string[];
  interrupted: number;
  /** Ends the turn that runs; `unshown`: what its model did not come to see. */
  end(unshown?: readonly Item[]): void;
}

const textOf = ({ text }: Item): string => text;

function lab({ steerable = true } = {}): Lab {
  const clock = manualClock();
  const shown = textOf;
  let unshown: readonly Item[] = [];
  const made: Lab = {
    clock,
    started: [],
    summarised: [],
    dropped: [],
    steered: [],
    interrupted: 0,
    lane: createSessionLane({
      clock,
      start(batch: Batch) {
        made.started.push(batch.items.map(shown));
        made.summarised.push(batch.summarised.map(shown));
        const turn: ActiveTurn = {
          steer: (item) => steerable && made.steered.push(textOf(item)) > 0,
          interrupt: () => void (made.interrupted += 1),
          unshown: () => unshown,
        };
        made.lane.began(turn);
      },
      drop: (items) => void made.dropped.push(...items.map(shown)),
    }),
    end(left = []) {
      unshown = left;
      made.lane.ended();
    },
  };
  return made;
}

const queue = (mode: QueueMode, over: { debounceMs?: number; cap?: number; drop?: "old" | "new" | "summarize"; source?: "default" | "session" } = {}) =>
  ({
    mode: { value: mode, source: over.source ?? "default" },
    debounceMs: { value: over.debounceMs ?? 1000, source: "default" },
    cap: { value: over.cap ?? 20, source: "default" },
    drop: { value: over.drop ?? "summarize", source: "default" },
  }) as const;

function said(text: string, mode: QueueMode = "collect", over: Parameters<typeof queue>[1] & { to?: string } = {}): Item {
  const address = { channel: "test", accountId: "default", to: over.to ?? "chat", chatType: "direct" } as const;
  const message = { address, event: {}, receivedAt: 0 };
  return {
    sessionKey: "k",
    agentId: "main",
    text,
    queue: queue(mode, over),
    messages: [message],
    last: message,
  } as unknown as Item;
}

const asked = (message: string, mode: QueueMode = "collect", over: Parameters<typeof queue>[1] & { textOnly?: boolean } = {}): Item =>
  ({
    sessionKey: "k",
    agentId: "main",
    queue: queue(mode, over),
    text: message,
    request: { message, scopes: over.textOnly ? undefined : [] },
  }) as unknown as Item;

test("the first message is answered at once", () => {
  const { lane, started } = lab();
  lane.add(said("a"));
  expect(started).toEqual([["a"]]);
});

test("collect holds what comes and answers all of it in one turn after a time of quiet", () => {
  const { lane, clock, started, end } = lab();
  lane.add(said("a"));
  lane.add(said("b"));
  clock.advance(600);
  lane.add(said("c"));
  end();
  clock.advance(999);
  expect(started).toEqual([["a"]]);
  clock.advance(1);
  expect(started).toEqual([["a"], ["b", "c"]]);
});

test("what was quiet long enough while the turn ran is answered as soon as it ends", () => {
  const { lane, clock, started, end } = lab();
  lane.add(said("a"));
  lane.add(said("b"));
  clock.advance(5000);
  end();
  expect(started).toEqual([["a"], ["b"]]);
});

test("messages for different places are answered one by one", () => {
  const { lane, clock, started, end } = lab();
  lane.add(said("a"));
  lane.add(said("b", "collect", { to: "one" }));
  lane.add(said("c", "collect", { to: "two" }));
  lane.add(said("d", "collect", { to: "two" }));
  end();
  clock.advance(1000);
  end();
  clock.advance(1000);
  expect(started).toEqual([["a"], ["b"], ["c", "d"]]);
});

test("followup gives each message a turn of its own", () => {
  const { lane, clock, started, end } = lab();
  for (const text of ["a", "b", "c"]) lane.add(said(text, "followup"));
  clock.advance(1000);
  end();
  end();
  expect(started).toEqual([["a"], ["b"], ["c"]]);
});

test("steer shows a message to the turn that runs, and it is not answered again", () => {
  const { lane, clock, started, steered, end } = lab();
  lane.add(said("a", "steer"));
  lane.add(said("b", "steer"));
  end();
  clock.advance(5000);
  expect([started, steered]).toEqual([[["a"]], ["b"]]);
});

test("what a steered turn did not come to see is answered next, before what came later", () => {
  const { lane, clock, started, end } = lab();
  const late = said("b", "steer");
  lane.add(said("a", "steer"));
  lane.add(late);
  lane.add(said("c", "followup"));
  clock.advance(5000);
  end([late]);
  end();
  expect(started).toEqual([["a"], ["b"], ["c"]]);
});

test("steer where the turn cannot take it waits for its turn", () => {
  const { lane, clock, started, end } = lab({ steerable: false });
  lane.add(said("a", "steer"));
  lane.add(said("b", "steer"));
  clock.advance(1000);
  end();
  expect(started).toEqual([["a"], ["b"]]);
});

test("steer-backlog shows it and keeps it for a turn of its own", () => {
  const { lane, clock, started, steered, end } = lab();
  lane.add(said("a", "steer-backlog"));
  lane.add(said("b", "steer-backlog"));
  clock.advance(1000);
  end();
  expect([started, steered]).toEqual([[["a"], ["b"]], ["b"]]);
});

test("interrupt stops the turn, drops what waits and goes on with the newest", () => {
  const made = lab();
  made.lane.add(said("a", "interrupt"));
  made.lane.add(said("b", "collect"));
  made.lane.add(said("c", "interrupt"));
  expect([made.interrupted, made.dropped]).toEqual([1, ["b"]]);
  made.clock.advance(1000);
  made.end();
  expect(made.started).toEqual([["a"], ["c"]]);
});

test("over the cap: old drops the oldest, new the newest, summarize keeps a line of the oldest", () => {
  for (const [drop, held, lines, dropped] of [
    ["old", ["c", "d"], [], ["b"]],
    ["new", ["b", "c"], [], ["d"]],
    ["summarize", ["c", "d"], ["b"], []],
  ] as const) {
    const made = lab();
    for (const text of ["a", "b", "c", "d"]) made.lane.add(said(text, "collect", { cap: 2, drop }));
    made.clock.advance(1000);
    made.end();
    expect([drop, made.started[1], made.summarised[1], made.dropped]).toEqual([drop, held, lines, dropped]);
  }
});

test("a client's messages are answered one by one unless a mode was chosen for its session", () => {
  const made = lab();
  made.lane.add(asked("a"));
  made.lane.add(asked("b"));
  made.lane.add(asked("c"));
  made.end();
  made.end();
  expect(made.started).toEqual([["a"], ["b"], ["c"]]);
  made.lane.add(asked("d", "interrupt", { source: "session" }));
  expect(made.interrupted).toBe(1);
});

test("clearing gives back what waits, and nothing of it begins", () => {
  const { lane, clock, started, end } = lab();
  lane.add(said("a"));
  lane.add(said("b"));
  expect(lane.clear()).toHaveLength(1);
  end();
  clock.advance(5000);
  expect([started, lane.isIdle]).toEqual([[["a"]], true]);
});

describe("a client's messages in a session with a mode of its own", () => {
  const own = { source: "session" } as const;

  test("collect answers all that waited in one turn, after the quiet time", () => {
    const { lane, clock, started, end } = lab();
    for (const text of ["a", "b", "c"]) lane.add(asked(text, "collect", own));
    end();
    clock.advance(999);
    expect(started).toEqual([["a"]]);
    clock.advance(1);
    expect(started).toEqual([["a"], ["b", "c"]]);
  });

  test("they are not merged with messages of a chat, whose answer goes elsewhere", () => {
    const { lane, clock, started, end } = lab();
    lane.add(asked("a", "collect", own));
    lane.add(asked("b", "collect", own));
    lane.add(said("c", "collect", own));
    clock.advance(1000);
    end();
    end();
    expect(started).toEqual([["a"], ["b"], ["c"]]);
  });

  test("steer and steer-backlog show it to the turn that runs", () => {
    const { lane, clock, started, steered, end } = lab();
    lane.add(asked("a", "steer", own));
    lane.add(asked("b", "steer", own));
    lane.add(asked("c", "steer-backlog", own));
    clock.advance(1000);
    end();
    expect([started, steered]).toEqual([
      [["a"], ["c"]],
      ["b", "c"],
    ]);
  });

  test("interrupt ends the turn and drops what waits", () => {
    const made = lab();
    made.lane.add(asked("a", "followup", own));
    made.lane.add(asked("b", "followup", own));
    made.lane.add(asked("c", "interrupt", own));
    made.clock.advance(1000);
    made.end();
    expect([made.interrupted, made.dropped, made.started]).toEqual([1, ["b"], [["a"], ["c"]]]);
  });

  test("the cap and what is dropped are those of the session", () => {
    const made = lab();
    for (const text of ["a", "b", "c", "d"]) made.lane.add(asked(text, "collect", { ...own, cap: 2 }));
    made.clock.advance(1000);
    made.end();
    expect([made.started[1], made.summarised[1]]).toEqual([["c", "d"], ["b"]]);
  });

  test("callers whose text is only text are answered one by one all the same", () => {
    const { lane, started, end } = lab();
    for (const text of ["a", "b", "c"]) lane.add(asked(text, "collect", { ...own, textOnly: true }));
    end();
    end();
    expect(started).toEqual([["a"], ["b"], ["c"]]);
  });
});

test("a message that waits is shown to the turn that runs when that is asked for, and is not answered again", () => {
  const { lane, started, steered, end } = lab();
  for (const text of ["a", "b", "c"]) lane.add(asked(text));
  expect(lane.steer(({ text }) => text === "c")).toBe(true);
  expect(lane.steer(({ text }) => text === "nobody")).toBe(false);
  expect([steered, lane.depth]).toEqual([["c"], 1]);
  end();
  end();
  expect(started).toEqual([["a"], ["b"]]);
});

test("a message that the turn does not take goes on waiting", () => {
  const { lane, started, end } = lab({ steerable: false });
  for (const text of ["a", "b"]) lane.add(asked(text));
  expect([lane.steer(() => true), lane.depth]).toEqual([false, 1]);
  end();
  expect(started).toEqual([["a"], ["b"]]);
});
