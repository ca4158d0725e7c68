import { expect, test } from "vitest";
import { cut, frameOf, noteAt, timeWidth } from "./waterfall-row.ts";

test("text is placed after its bar, before it where there is more space, and cut at the edge", () => {
  expect(noteAt(10, 50, 600, "400 ms")).toEqual({ x: 56, anchor: "start", text: "400 ms" });
  expect(noteAt(400, 590, 600, "400 ms")).toEqual({ x: 394, anchor: "end", text: "400 ms" });
  const wide = noteAt(0, 560, 600, "400 ms, and much more to say than there is area");
  expect(wide).toEqual({ x: 566, anchor: "start", text: "" });
  expect(noteAt(0, 500, 600, "400 ms, and much more to say than there is area").text).toBe("400 ms, and m…");
});

test("a text that does not fit ends with a sign for it, and where nothing fits there is nothing", () => {
  expect(cut("before_dispatch", 60)).toBe("before_d…");
  expect(cut("read", 60)).toBe("read");
  expect(cut("read", 5)).toBe("");
});

test("on a phone names stand above their bars, so that the bars have the whole width", () => {
  const view = { from: 0, to: 1 };
  expect(frameOf(360, view)).toMatchObject({ names: 10, rowHeight: 40 });
  expect(timeWidth(frameOf(360, view))).toBe(340);
  expect(timeWidth(frameOf(1000, view))).toBe(766);
});
