import { expect, test } from "vitest";
import { span, type Line } from "../text/line.ts";
import { createPainter, paint } from "./paint.ts";

const size = { columns: 10, rows: 3 };
const frame = (...texts: readonly string[]) => ({ lines: texts.map((text): Line => [span(text)]), cursor: undefined });

test("only lines that changed are written", () => {
  const painter = createPainter(true);
  expect(painter.draw(frame("one", "two", "three"), size)).toContain("\u001b[2J");
  const second = painter.draw(frame("one", "TWO", "three"), size);
  expect(second).toContain("\u001b[2;1H\u001b[2KTWO");
  expect(second).not.toContain("one");
  expect(second).not.toContain("\u001b[2J");
});

test("nothing is written when nothing changed", () => {
  const painter = createPainter(true);
  painter.draw(frame("one", "", ""), size);
  expect(painter.draw(frame("one", "", ""), size)).toBe("");
});

test("another size, or an unknown screen, is redrawn in full", () => {
  const painter = createPainter(true);
  painter.draw(frame("one", "", ""), size);
  expect(painter.draw(frame("one", "", ""), { columns: 12, rows: 3 })).toContain("one");
  painter.forget();
  expect(painter.draw(frame("one", "", ""), { columns: 12, rows: 3 })).toContain("one");
});

test("no line is wider than the screen", () => expect(createPainter(true).draw(frame("0123456789abc"), size)).toContain("012345678…"));

test("without colour there are styles but no colours", () => {
  expect(paint([span("x", { bold: true, colour: "red" })], true)).toBe("\u001b[1;31mx\u001b[0m");
  expect(paint([span("x", { bold: true, colour: "red" })], false)).toBe("\u001b[1mx\u001b[0m");
});

test("text cannot control the terminal, even when it was not cleaned before", () => {
  expect(paint([span("a\u001b]0;owned\u0007\u009b2J\n", { dim: true })], true)).toBe("\u001b[2ma\ufffd]0;owned\ufffd\ufffd2J\ufffd\u001b[0m");
});
