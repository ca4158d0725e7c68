import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import xterm from "@xterm/headless";

/** Less than a test has: what is waited for in vain is then shown. */
const PATIENCE_MS = 40_000;

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

export interface PseudoTerminalOptions {
  readonly line: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly columns?: number;
  readonly rows?: number;
}

/** A program in a terminal of the system's, with a screen that a test can read. */
export interface PseudoTerminal extends AsyncDisposable {
  /** Keys as a keyboard sends them. */
  send(text: string): void;
  screen(): string;
  /** Resolves when the screen fits; rejects with what it shows instead. */
  waitFor(wanted: string | RegExp | ((screen: string) => boolean)): Promise<void>;
  resize(columns: number, rows: number): void;
  /** The program's process; undefined before it runs. */
  readonly pid: () => number;
  /** What the terminal is set to. */
  readonly modes: () => { readonly alternate: boolean; readonly paste: boolean; readonly wraps: boolean; readonly mouse: string };
  /** Titles that were set. */
  readonly titles: readonly string[];
  /** Everything that was written. */
  readonly output: () => string;
  readonly exited: Promise<unknown>;
}

/**
 * Runs a program in a pseudo-terminal of `script`. Before it the line `before` is written, behind it its exit code and whether lines are edited
 * again (`icanon`) or not (`-icanon`).
 */
export async function openPseudoTerminal({ line, env, cwd, columns = 100, rows = 30 }: PseudoTerminalOptions): Promise<PseudoTerminal> {
  const folder = mkdtempSync(join(tmpdir(), "pseudo-terminal-"));
  const tty = join(folder, "tty");
  const pid = join(folder, "pid");
  const program = `sh -c ${quoted(`echo $$ > ${pid}; exec "$0" "$@"`)} ${line.map(quoted).join(" ")}`;
  const report = `code=$?; printf 'exit=%s ' "$code"; stty -a | grep -o -e '-*icanon'`;
  const script = `stty rows ${rows} cols ${columns}; tty > ${tty}; echo before; ${program}; ${report}`;
  const child = spawn("script", ["-qfec", script, "/dev/null"], {
    env: { ...env, SHELL: "/bin/sh", TERM: "xterm-256color" },
    cwd,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  const titles: string[] = [];
  let output = "";
  const listeners = new Set<() => void>();
  terminal.onTitleChange((title) => titles.push(title));
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString("utf8");
    terminal.write(chunk, () => {
      for (const listener of listeners) listener();
    });
  });
  const exited = once(child, "close");

  function screen(): string {
    const { active } = terminal.buffer;
    return Array.from({ length: terminal.rows }, (_, row) => active.getLine(active.viewportY + row)?.translateToString(true) ?? "").join("\n");
  }

  function fits(wanted: string | RegExp | ((screen: string) => boolean)): boolean {
    if (typeof wanted === "function") return wanted(screen());
    return typeof wanted === "string" ? screen().includes(wanted) : wanted.test(screen());
  }

  return {
    send: (text) => void child.stdin.write(text),
    screen,
    waitFor(wanted) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const look = (): void => (fits(wanted) ? resolve() : undefined);
      const timer = setTimeout(() => reject(new Error(`the screen did not show ${String(wanted)}:\n${screen()}`)), PATIENCE_MS);
      listeners.add(look);
      look();
      return promise.finally(() => {
        clearTimeout(timer);
        listeners.delete(look);
      });
    },
    resize(nextColumns, nextRows) {
      terminal.resize(nextColumns, nextRows);
      spawnSync("stty", ["-F", readFileSync(tty, "utf8").trim(), "rows", String(nextRows), "cols", String(nextColumns)]);
    },
    pid: () => Number(readFileSync(pid, "utf8")),
    modes() {
      const { bracketedPasteMode, wraparoundMode, mouseTrackingMode } = terminal.modes;
      return { alternate: terminal.buffer.active.type === "alternate", paste: bracketedPasteMode, wraps: wraparoundMode, mouse: mouseTrackingMode };
    },
    titles,
    output: () => output,
    exited,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
      terminal.dispose();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
