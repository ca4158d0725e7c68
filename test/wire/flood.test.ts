import { expect, test } from "vitest";
import { expectInTime } from "../harness/in-time.ts";
import { LIMITS } from "../../src/protocol/index.ts";
import { flood } from "./flood.ts";

/** The time to answer a close frame, the interval in which slow headers are looked for, and a loaded machine. */
const GRACE_MS = 8000;

test(
  "300 strangers who say nothing, trickle, throw garbage or guess are gone after the deadline, while known clients are served and memory stays bounded",
  { timeout: 60_000 },
  async () => {
    const report = await flood({ sockets: 300, patienceMs: LIMITS.handshakeMs + GRACE_MS });
    expect(report.remaining).toEqual({});
    expect(report.requests).toBeGreaterThan(5);
    expectInTime(report.slowestMs, 1000);
    expectInTime(report.newcomersMs, 2000);
    expect(report.growth).toBeLessThan(60 * 1024 * 1024);
    expect(report.output).not.toMatch(/defect|unhandled|uncaught|TypeError|RangeError/i);
  },
);
