import { writeSync } from "node:fs";
import { systemCode } from "../../src/base/errors.ts";

/** Writes a line to standard output before anything else happens. It waits while the reader is behind. */
export function sayLine(line: string): void {
  for (;;) {
    try {
      writeSync(1, `${line}\n`);
      return;
    } catch (error) {
      if (systemCode(error) !== "EAGAIN") throw error;
    }
  }
}
