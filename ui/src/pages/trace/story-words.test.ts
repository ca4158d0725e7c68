import { expect, test } from "vitest";
import type { Step, Story } from "./story-rows.ts";
import { channelOf, filtered, startPlace, startText, storyMs, storyPlace, storyText, storyTitle, verdictText } from "./story-words.ts";

const T = Date.UTC(2026, 0, 2, 3, 4, 5);
const steps: Step[] = [
  { at: T, kind: "received", text: "message over telegram", lane: "arrival" },
  { at: T, kind: "hook", text: "before_dispatch by guard: no action", lane: "plugins", details: { decision: "ok" } },
  { at: T + 1200, ms: 340, kind: "model", text: "acme/m1: 10 tokens in, 5 out", lane: "model" },
  { at: T + 2000, ms: 2000, kind: "end", text: "turn ended: answered", lane: "turn" },
];
const story: Story = {
  about: { inboxId: 42, messageId: "4711", channel: "telegram", sessionKey: "agent:main:main", asked: "What is the time?" },
  verdict: { outcome: "failed", level: "bad", text: "failed: no key", todo: "add a key" },
  steps,
  others: [],
};

test("as text: the verdict, what to do, and each step that tells something", () => {
  expect(storyText(story).split("\n")).toEqual([
    "in:42 (4711): failed: no key",
    "What to do: add a key",
    "Message: What is the time?",
    "Session: agent:main:main",
    "Started: 2026-01-02T03:04:05.000Z",
    "",
    "+   0.000 s  received    message over telegram",
    "+   1.200 s  model       acme/m1: 10 tokens in, 5 out (340 ms)",
    "+   2.000 s  turn        turn ended: answered (2.0 s)",
  ]);
});

test("it is called after what was asked; where nothing was, after how it stands", () => {
  expect([storyTitle(story), storyTitle({ ...story, about: { outboxId: 7 } })]).toEqual(["What is the time?", "Failed: no key"]);
});

test("a story is as long as until its last step, and is found again by its row, turn or delivery", () => {
  expect(storyMs(story)).toBe(2000);
  expect(storyPlace(story)).toBe("in:42");
  expect(storyPlace({ ...story, about: { turnId: "t1" } })).toBe("t1");
  expect(storyPlace({ ...story, about: { outboxId: 7 } })).toBe("out:7");
});

test("a list is narrowed by outcome and channel", () => {
  const client: Story = { ...story, about: { channel: "gateway" }, verdict: { outcome: "answered", level: "ok", text: "" } };
  expect(channelOf(client)).toBe("client");
  expect(filtered([story, client], { outcome: "failed" })).toEqual([story]);
  expect(filtered([story, client], { channel: "client" })).toEqual([client]);
  expect(filtered([story, client], {})).toHaveLength(2);
});

test("lengths of time in the verdict are written as everywhere else on the page", () => {
  const said = (text: string): string => verdictText({ ...story, verdict: { ...story.verdict, text } });
  expect(said("answered after 283ms")).toBe("Answered after 283 ms");
  expect(said("in progress for 1m 20s")).toBe("In progress for 1 min 20 s");
  expect(said("failed after 2h: HTTP 503s came, 5m each")).toBe("Failed after 2 h: HTTP 503s came, 5m each");
});

test("a run that nobody wrote a message for is called after what started it", () => {
  const started = (start: NonNullable<Story["about"]["start"]>): Story => ({ ...story, about: { channel: "gateway", start } });
  const job = started({ kind: "job", id: "j1", text: 'scheduled job "Report" (j1)' });
  expect([channelOf(job), startText(job), startPlace(job)]).toEqual(["scheduled job", 'Scheduled job "Report" (j1)', "jobs/j1"]);
  const webhook = started({ kind: "webhook", text: "webhook (w1)" });
  expect([channelOf(webhook), startPlace(webhook)]).toEqual(["webhook", undefined]);
  expect(startText(story)).toBeUndefined();
});
