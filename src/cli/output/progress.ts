import { formatBytes } from "../../base/text.ts";
import type { Io } from "../io.ts";

export interface Progress extends Disposable {
  /** Bytes done of all bytes; the label says what is being worked on. */
  update(done: number, total: number, label: string): void;
}

const BAR_WIDTH = 24;
const REDRAW_MS = 80;

/** A bar on a terminal, a line per tenth elsewhere. Goes to the error output, so that `--json` stays clean. */
export function createProgress(io: Io, title: string): Progress {
  let drawn = -Infinity;
  let tenth = -1;
  return {
    update(done, total, label) {
      const part = total > 0 ? Math.min(1, done / total) : 0;
      const amount = `${formatBytes(done)} of ${formatBytes(total)}`;
      if (!io.interactive) {
        if (Math.floor(part * 10) === tenth) return;
        tenth = Math.floor(part * 10);
        io.err(`${title}: ${Math.round(part * 100)}% (${amount}) ${label}\n`);
        return;
      }
      if (io.now() - drawn < REDRAW_MS && part < 1) return;
      drawn = io.now();
      const full = Math.round(part * BAR_WIDTH);
      io.redraw?.(`${title} ${"█".repeat(full)}${"░".repeat(BAR_WIDTH - full)} ${String(Math.round(part * 100)).padStart(3)}%  ${amount}  ${label}`);
    },
    [Symbol.dispose]() {
      if (io.interactive && drawn > -Infinity) io.redraw?.("");
    },
  };
}
