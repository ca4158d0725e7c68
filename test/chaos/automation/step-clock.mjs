/**
 * Loaded into a gateway before its own code (`NODE_OPTIONS=--import=…`), in each of its threads: its clock is ahead by the milliseconds in the file that
 * OPENCLAW_TEST_CLOCK names, so that a test can set the clock of a running process.
 */
import { readFileSync } from "node:fs";

const file = process.env.OPENCLAW_TEST_CLOCK;
const real = Date.now.bind(Date);
let aheadMs = 0;

/** A file that is just being written is empty for a moment: the clock stays as it is. */
function look() {
  try {
    const text = readFileSync(file, "utf8");
    if (/^-?\d+(?:\.\d+)?\n$/.test(text)) aheadMs = Number(text);
  } catch {
    // There is no such file yet.
  }
}

if (file !== undefined) {
  look();
  setInterval(look, 10).unref();
  Date.now = () => real() + aheadMs;
}
