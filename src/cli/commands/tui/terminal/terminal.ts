import { writeSync } from "node:fs";
import type { Size } from "./paint.ts";

/** The user's terminal. */
export interface Terminal extends Disposable {
  readonly size: Size;
  write(text: string): void;
  /** Takes the screen: what was on it comes back with `leave`. */
  enter(): void;
  /** Gives the screen back as it was. May be called at any time, more than once. */
  leave(): void;
  /** Whether the wheel is reported. The terminal then no longer selects text by itself. */
  mouse(on: boolean): void;
  onInput(listener: (bytes: Uint8Array) => void): void;
  onResize(listener: () => void): void;
  /** The terminal was closed. */
  onGone(listener: () => void): void;
}

/** Another screen, no wrapping at its edge, pastes distinguished from keys, the title saved. */
const ENTER = "\x1b[?1049h\x1b[?7l\x1b[?2004h\x1b[>1u\x1b[2J\x1b[H";
const MOUSE_ON = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF = "\x1b[?1006l\x1b[?1000l";
const LEAVE = `\x1b[?2026l\x1b[0m${MOUSE_OFF}\x1b[<u\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l`;

/** Both ends are terminals. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}

export function openTerminal(): Terminal {
  const { stdin, stdout } = process;
  let inside = false;
  let wheel = false;
  const stack = new DisposableStack();

  /** At the end of a process nothing is written later: this is written now, or the terminal is gone. */
  function writeNow(text: string): void {
    try {
      writeSync(1, text);
    } catch {
      // The terminal is gone.
    }
  }

  function leave(): void {
    if (!inside) return;
    inside = false;
    writeNow(LEAVE);
    try {
      stdin.setRawMode(false);
    } catch {
      // As above.
    }
    stdin.pause();
  }

  const ignore = (): void => undefined;
  stdout.on("error", ignore);
  stack.defer(() => void stdout.off("error", ignore));
  process.on("exit", leave);
  stack.defer(() => process.off("exit", leave));
  stack.defer(leave);
  return {
    get size() {
      return { columns: stdout.columns || 80, rows: stdout.rows || 24 };
    },
    write(text) {
      if (inside) stdout.write(text);
    },
    enter() {
      if (inside) return;
      inside = true;
      stdin.setRawMode(true);
      stdin.resume();
      stdout.write(`${ENTER}${wheel ? MOUSE_ON : ""}`);
    },
    leave,
    mouse(on) {
      wheel = on;
      if (inside) stdout.write(on ? MOUSE_ON : MOUSE_OFF);
    },
    onInput(listener) {
      stdin.on("data", listener);
      stack.defer(() => void stdin.off("data", listener));
    },
    onResize(listener) {
      stdout.on("resize", listener);
      stack.defer(() => void stdout.off("resize", listener));
    },
    onGone(listener) {
      for (const name of ["end", "error"]) {
        stdin.on(name, listener);
        stack.defer(() => void stdin.off(name, listener));
      }
    },
    [Symbol.dispose]: () => stack.dispose(),
  };
}
