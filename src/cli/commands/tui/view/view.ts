import type { Frame, Size } from "../terminal/paint.ts";
import { clipLine, span, type Line } from "../text/line.ts";
import type { Context, State } from "../state/state.ts";
import { approvalLines, completionLines, pickerLines } from "./panels.ts";
import { footerLine, headerLine, statusLine } from "./bars.ts";
import { inputView } from "./input.ts";
import { createLogView } from "./log.ts";
import type { ReadMarkdown } from "./markdown.ts";

export interface Drawn {
  readonly frame: Frame;
  readonly layout: Context["layout"];
}

export interface ViewInput {
  readonly size: Size;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly read: ReadMarkdown;
}

const SMALLEST: Size = { columns: 20, rows: 6 };

const tooSmall = ({ rows }: Size): Drawn => ({
  frame: { lines: Array.from({ length: rows }, (_, row): Line => (row === 0 ? [span("terminal too small")] : [])), cursor: undefined },
  layout: { lines: 0, height: 1 },
});

function filled(lines: readonly Line[], height: number): Line[] {
  return [...lines, ...Array.from({ length: Math.max(0, height - lines.length) }, (): Line => [])];
}

/** Makes the function from a state to a screen. The same state on the same screen looks the same; what it caches only saves work. */
export function createView(): (state: State, input: ViewInput) => Drawn {
  const drawLog = createLogView();

  function logOf(state: State, { size, now, read }: ViewInput): Line[] {
    const { columns } = size;
    const style = { columns, tools: state.show.tools, thinking: state.show.thinking, read };
    const asked = { focus: state.focus, sessionKey: state.sessionKey, now: now + state.skew };
    return [...drawLog(state, style), ...state.approvals.flatMap((approval): Line[] => [[], ...approvalLines(approval, columns, asked)])];
  }

  return (state, input) => {
    const { columns, rows } = input.size;
    if (columns < SMALLEST.columns || rows < SMALLEST.rows) return tooSmall(input.size);
    const { lines: typed, cursor } = inputView(state.editor, columns, Math.max(1, Math.floor(rows / 3)));
    const bars = 3 + typed.length;
    const offered = completionLines(state, columns).slice(0, Math.max(0, rows - bars - 1));
    const list = state.picker ? pickerLines(state.picker, columns, Math.min(16, rows - bars)).slice(0, rows - bars) : offered;
    const height = Math.max(0, rows - bars - list.length);
    const log = logOf(state, input);
    const last = Math.max(0, log.length - height);
    const top = Math.min(state.top ?? last, last);
    const status = clipLine(statusLine(state, input.now, log.length - top - height), columns);
    const above = [headerLine(state, columns), ...filled(log.slice(top, top + height), height), ...list.map((line) => clipLine(line, columns)), status];
    const hidden = state.picker !== undefined || state.focus !== undefined;
    return {
      frame: {
        lines: [...above, ...typed, clipLine(footerLine(state, columns), columns)],
        cursor: hidden ? undefined : { row: above.length + cursor.row, column: cursor.column },
      },
      layout: { lines: log.length, height: Math.max(1, height) },
    };
  };
}
