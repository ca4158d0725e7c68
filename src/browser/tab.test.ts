import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createTabNumbers } from "./tab.ts";

test("numbers of tabs go on after a restart, and a page that opens tabs without end hardly touches the disk", () => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-tabs-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  let writes = 0;
  const open = () => createTabNumbers(join(folder, "last-tab"), { hex: () => String((writes += 1)) });
  const next = open();
  const first = Array.from({ length: 45 }, next);
  expect(first).toEqual(Array.from({ length: 45 }, (_, at) => at + 1));
  expect(writes).toBe(3);
  const again = open()();
  expect(again).toBeGreaterThan(45);
});
