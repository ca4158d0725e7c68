import { systemClock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { run as runProgram } from "../../../base/spawn.ts";
import type { Link } from "./gateway/link.ts";
import { performAt } from "./gateway/perform.ts";
import { agentOf, isBusy } from "./state/session.ts";
import type { TuiEvent } from "./state/event.ts";
import type { Context, Effect, State } from "./state/state.ts";
import { update } from "./state/update.ts";
import { createDecoder } from "./terminal/decoder.ts";
import { suspend } from "./terminal/endings.ts";
import { createPainter } from "./terminal/paint.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { asWritten, type ReadMarkdown } from "./view/markdown.ts";
import { createView } from "./view/view.ts";

export interface TuiDeps {
  readonly terminal: Terminal;
  readonly colour: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly newId: () => string;
  readonly openLink: (dispatch: (event: TuiEvent) => void) => Link;
  /** Loaded while the connection is made. */
  readonly loadMarkdown: () => Promise<ReadMarkdown>;
}

const FRAME_MS = 16;
const SPIN_MS = 125;
const SECOND_MS = 1000;
/** A lone escape character is the Escape key when nothing follows for so long. */
const ESCAPE_MS = 40;
const SHELL_MS = 10 * 60_000;
const SHELL_BYTES = 1_000_000;

/** Draws when something changed, at most once per frame, and less often where drawing is slow. */
function createScreen(deps: TuiDeps, state: () => State, ticked: () => void) {
  const { terminal } = deps;
  const view = createView();
  const painter = createPainter(deps.colour);
  let read = asWritten;
  let layout: Context["layout"] = { lines: 0, height: 1 };
  let due: NodeJS.Timeout | undefined;
  let tick: NodeJS.Timeout | undefined;
  let next = 0;
  let closed = false;

  /** Things that change by themselves: a spinner, seconds that are left. */
  function rhythm(): number | undefined {
    const { link, approvals, armedAt, shell, picker } = state();
    if (link.kind === "open" && (isBusy(state()) || shell.running !== undefined)) return SPIN_MS;
    return link.kind !== "open" || approvals.length > 0 || armedAt !== undefined || picker?.kind === "subagents" ? SECOND_MS : undefined;
  }

  function draw(): void {
    due = undefined;
    const { size } = terminal;
    const started = performance.now();
    const drawn = view(state(), { size, now: systemClock.now(), read });
    ({ layout } = drawn);
    terminal.write(painter.draw(drawn.frame, size));
    const ended = performance.now();
    next = ended + Math.max(FRAME_MS, 2 * (ended - started));
    clearTimeout(tick);
    const every = rhythm();
    tick = every === undefined ? undefined : setTimeout(ticked, every);
  }

  function changed(): void {
    if (!closed) due ??= setTimeout(draw, Math.max(0, next - performance.now()));
  }

  return {
    get layout() {
      return layout;
    },
    changed,
    draw,
    forget: () => painter.forget(),
    readWith(reader: ReadMarkdown): void {
      read = reader;
      changed();
    },
    [Symbol.dispose](): void {
      closed = true;
      clearTimeout(due);
      clearTimeout(tick);
    },
  };
}

/** Runs commands on this machine, one at a time. */
function createShell({ env, cwd }: TuiDeps, dispatch: (event: TuiEvent) => void) {
  let running: AbortController | undefined;
  const program = process.platform === "win32" ? (["cmd.exe", "/d", "/s", "/c"] as const) : (["/bin/sh", "-c"] as const);

  async function run(command: string): Promise<void> {
    running = new AbortController();
    const [file, ...args] = program;
    try {
      const { code, stdout, stderr } = await runProgram(file, {
        args: [...args, command],
        cwd,
        env,
        timeoutMs: SHELL_MS,
        maxOutputBytes: SHELL_BYTES,
        signal: running.signal,
      });
      dispatch({ type: "shell-ended", command, output: stdout + stderr, failure: code === 0 ? undefined : `exit code ${code}` });
    } catch (error) {
      dispatch({ type: "shell-ended", command, output: "", failure: messageOf(error) });
    }
  }
  return { run, stop: (): void => running?.abort(), [Symbol.dispose]: (): void => running?.abort() };
}

/** Reads the keyboard. */
function listen(terminal: Terminal, dispatch: (event: TuiEvent) => void): void {
  const decoder = createDecoder();
  let timer: NodeJS.Timeout | undefined;
  terminal.onInput((bytes) => {
    clearTimeout(timer);
    for (const input of decoder.push(bytes)) dispatch(input);
    if (decoder.waiting) timer = setTimeout(() => decoder.flush().forEach(dispatch), ESCAPE_MS);
  });
}

/** Shows the interface until the user leaves; resolves to the last state. Rejects when the gateway cannot be reached at first. */
export async function runTui(deps: TuiDeps, start: State): Promise<State> {
  const { terminal, newId } = deps;
  const left = Promise.withResolvers<void>();
  using stack = new DisposableStack();
  let state = start;
  const screen = stack.use(
    createScreen(
      deps,
      () => state,
      () => dispatch({ type: "tick" }),
    ),
  );
  const shell = stack.use(createShell(deps, dispatch));

  function dispatch(event: TuiEvent): void {
    const next = update(state, event, { now: systemClock.now(), newId, layout: screen.layout });
    ({ state } = next);
    screen.changed();
    for (const effect of next.effects) perform(effect);
  }

  function resume(): void {
    terminal.enter();
    screen.forget();
    screen.draw();
  }

  function perform(effect: Effect): void {
    if (effect.kind === "exit") left.resolve();
    else if (effect.kind === "shell") void shell.run(effect.command);
    else if (effect.kind === "stop-shell") shell.stop();
    else if (effect.kind === "mouse") terminal.mouse(effect.on);
    else if (effect.kind === "suspend") {
      terminal.leave();
      suspend(resume);
    } else void performAt(link.client, effect, agentOf(state), dispatch);
  }

  terminal.enter();
  screen.draw();
  listen(terminal, dispatch);
  terminal.onResize(() => {
    screen.forget();
    screen.changed();
  });
  terminal.onGone(() => left.resolve());
  const link = stack.use(deps.openLink(dispatch));
  // Without it answers are shown as they are written.
  void deps.loadMarkdown().then(screen.readWith, () => undefined);
  await Promise.race([left.promise, link.ended]);
  return state;
}
