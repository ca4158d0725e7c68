import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createToasts } from "./toasts.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a message goes away by itself, one with an action later, and none while it is held", () => {
  const toasts = createToasts();
  const shown = (): readonly string[] => toasts.list.value.map(({ text }) => text);
  toasts.say("Saved");
  toasts.say("Deleted", { label: "Undo", run: () => undefined });
  vi.advanceTimersByTime(4000);
  expect(shown()).toEqual(["Deleted"]);
  toasts.hold(true);
  vi.advanceTimersByTime(60_000);
  expect(shown()).toEqual(["Deleted"]);
  toasts.hold(false);
  expect(shown()).toEqual([]);
});
