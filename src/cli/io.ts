/** The world as a command sees it: what it may read and where it may write. Commands touch no global. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly version: string;
  /** For people: styled, only when not asked for JSON. */
  readonly out: (text: string) => void;
  /** For what is not the answer: progress, warnings, errors. */
  readonly err: (text: string) => void;
  /** What to type to run this program here: `openclaw`, or where it is not on the PATH, its path. */
  readonly program: string;
  /** The text with every `openclaw …` command as it can be pasted here. The error output does it by itself. */
  readonly runnable: (text: string) => string;
  readonly color: boolean;
  /** Draws over the current line of the error output. Only a terminal has it. */
  readonly redraw?: ((text: string) => void) | undefined;
  /** A user is at the terminal: progress may redraw, questions may be asked. */
  readonly interactive: boolean;
  readonly columns: number;
  readonly now: () => number;
  /** Asks a yes/no question on the terminal. Without a terminal the answer is no. */
  readonly confirm: (question: string) => Promise<boolean>;
  /** Ends the process shortly after the command, although something in it still waits. Only a process of its own has it. */
  readonly endSoon?: (() => void) | undefined;
  /** Fires at Ctrl-C or SIGTERM. */
  readonly signal: () => AbortSignal;
}

/** Prints one JSON value as the command's whole answer. */
export function printJson(io: Io, value: unknown): void {
  io.out(`${JSON.stringify(value, null, 2)}\n`);
}
