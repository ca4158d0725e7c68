import { closeSync, openSync, statSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";

/** Writes into a folder until its disk has no more than `left` bytes free. */
export function fill(folder: string, left = 0): void {
  const path = join(folder, "ballast");
  const fd = openSync(path, "w");
  try {
    for (;;) writeSync(fd, Buffer.alloc(4096));
  } catch (error) {
    expect(error).toMatchObject({ code: "ENOSPC" });
  } finally {
    closeSync(fd);
  }
  if (left > 0) truncateSync(path, statSync(path).size - left);
}
