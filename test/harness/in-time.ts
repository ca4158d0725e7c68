import { expect } from "vitest";
import { slowness } from "./slowness.ts";

/** What took `tookMs` was in time. The limit is that of a quiet machine; on a busy one it grows in the ratio by which a bare process takes longer. */
export function expectInTime(tookMs: number, limitMs: number, what = "it took too long"): void {
  if (tookMs < limitMs) return;
  expect(tookMs, what).toBeLessThan(limitMs * slowness());
}
