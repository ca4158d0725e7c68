import { constants } from "node:os";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { SecretStream } from "../../base/secret-search.ts";
import { startChild, type Child, type ChildExit } from "../../base/spawn.ts";
import type { CommandRecords } from "./command-records.ts";
import { CommandOutput, type OutputLimits } from "./output.ts";
import { terminalSignals } from "./terminal-session.ts";
import { TerminalText } from "./terminal-text.ts";

const FIRST =
  "amber brisk calm clear cool crisp dawn deep delta ember faint fast fresh gentle glow good grand keen kind lucky marine mellow mild neat nimble nova oceanic plaid quick quiet rapid salty sharp swift tender tidal tidy vivid warm wild young".split(
    " ",
  );
const SECOND =
  "atlas basil bay bison bloom breeze brook canyon cedar claw cloud comet coral cove creek crest daisy dune falcon fjord forest glade harbor haven kelp lagoon lobster meadow mist nudibranch nexus orbit otter pine prairie reef ridge river rook sable sage seaslug shell shoal shore slug summit tide trail valley willow wharf zephyr".split(
    " ",
  );

/** Two words that are not taken; a number follows when luck runs out. */
function freeSlug(random: Random, taken: (slug: string) => boolean): string {
  const pick = (words: readonly string[]): string => words[Math.floor(random.float() * words.length)] ?? "";
  for (let tries = 0; tries < 20; tries += 1) {
    const slug = `${pick(FIRST)}-${pick(SECOND)}`;
    if (!taken(slug)) return slug;
  }
  const slug = `${pick(FIRST)}-${pick(SECOND)}`;
  let number = 2;
  while (taken(`${slug}-${number}`)) number += 1;
  return `${slug}-${number}`;
}

/** SIGKILL follows SIGTERM after this long. */
const KILL_AFTER_MS = 3000;
/** The answer to a program that asks its terminal where the cursor is: at the beginning. */
const CURSOR = "\x1b[1;1R";
const CLEANUP_MS = { default: 30 * 60_000, min: 60_000, max: 3 * 60 * 60_000 };

export type ProcessEnd = ChildExit & { readonly timedOut: boolean };

/** A command that runs on another machine. */
export interface RemoteCommand {
  /** Never rejects. */
  readonly exited: Promise<ChildExit & { readonly timedOut?: boolean }>;
  /** Asks for its end; what becomes of that is in `exited`. */
  stop(): void;
}

/** A command that runs or ran. */
export interface CommandProcess {
  /** Two words. */
  readonly id: string;
  /** Undefined when it runs on another machine. */
  readonly pid: number | undefined;
  readonly scope: string;
  readonly command: string;
  readonly cwd: string;
  readonly startedAt: number;
  readonly output: CommandOutput;
  /** Where all of a long output can be read, once it has ended. */
  readonly outputFile: string | undefined;
  /** Only what runs in the background is listed and outlives its call. */
  readonly backgrounded: boolean;
  /** Set when it ended. */
  readonly end: ProcessEnd | undefined;
  readonly endedAt: number | undefined;
  readonly ended: Promise<ProcessEnd>;
  /** Polls in a row that brought nothing. */
  emptyPolls: number;
  /** Its agent has been shown the end, or brought it about. */
  isEndSeen: boolean;
  /** Goes on without its call. `announced`: its session is to be notified of its end, also by the next gateway when this one is killed. */
  toBackground(announced?: boolean): void;
  /** True when it runs in a terminal; only then it can be written to. */
  readonly terminal: boolean;
  /** Types into its terminal; false when there is none, it has ended, or it does not read. */
  write(data: string | Buffer): boolean;
  /** It was ended on purpose before it was done. */
  readonly killed: boolean;
  /** Ends it and everything it started: SIGTERM, then SIGKILL after the grace (3 s unless given, in milliseconds). */
  kill(graceMs?: number): void;
}

export interface StartInput {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The folder as the command sees it, when that is another. */
  readonly shownCwd?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called with what was started; disposed of at its end. */
  readonly attend?: ((pid: number, kill: () => void) => Disposable) | undefined;
  /** Ends what runs elsewhere on behalf of the started program, and does not end with it. */
  readonly killInside?: (() => Promise<void>) | undefined;
  /** The started program holds a terminal for the command: on this machine, or inside a sandbox that ends with the program. */
  readonly terminal?: "here" | "inside" | undefined;
  /** As a person wrote it. */
  readonly command: string;
  /** Who may see it. */
  readonly scope: string;
  /** Milliseconds; none when absent. */
  readonly timeoutMs?: number | undefined;
  /** How long it is remembered after its end. */
  readonly cleanupMs?: number | undefined;
  /** Called after each piece of output. */
  readonly onOutput?: () => void;
  /** Keeps all of an output that is too long to be shown, and gives the name under which it can be read. */
  readonly keepOutput?: ((id: string, output: CommandOutput) => Promise<string | undefined>) | undefined;
}

/** A command that another machine runs, and that its session looks after like its own. */
export interface RemoteInput extends Pick<StartInput, "command" | "scope" | "cwd" | "cleanupMs" | "onOutput" | "keepOutput"> {
  connect(onOutput: (stream: "stdout" | "stderr", text: string) => void): RemoteCommand;
}

/** The commands that were started here. They end with the gateway. */
export interface Processes extends AsyncDisposable {
  /** The gateway stops, and with it what runs. */
  readonly closing: boolean;
  start(input: StartInput | RemoteInput): Promise<CommandProcess>;
  /** Those in the background, newest first. */
  list(scope: string): readonly CommandProcess[];
  find(scope: string, id: string): CommandProcess | undefined;
  forget(process: CommandProcess): void;
}

export interface ProcessesDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly limits?: OutputLimits;
  /** Makes what masks registered secrets in a stream of output. */
  readonly secrets?: (() => SecretStream) | undefined;
  /** Where running commands are recorded, so that they do not outlive a gateway that is killed. */
  readonly records?: CommandRecords | undefined;
}

/** Those that a session can see. */
function inBackground(known: Map<string, CommandProcess>): Pick<Processes, "list" | "find" | "forget"> {
  return {
    list: (scope) => [...known.values()].filter((process) => process.scope === scope && process.backgrounded).sort((a, b) => b.startedAt - a.startedAt),
    find(scope, id) {
      const process = known.get(id);
      return process?.scope === scope && process.backgrounded ? process : undefined;
    },
    forget: (process) => void known.delete(process.id),
  };
}

export function createProcesses({ clock, random, limits, secrets, records }: ProcessesDeps): Processes {
  const known = new Map<string, CommandProcess>();
  let closing = false;
  return {
    get closing() {
      return closing;
    },
    async start(asked) {
      const { child, signal, output, inTerminal } = "connect" in asked ? connected(asked, limits, secrets) : await begin(asked, limits, secrets);
      const input: Started = asked;
      const id = freeSlug(random, (slug) => known.has(slug));
      const record = recorded(records, id, child.pid, input);
      const state: { backgrounded: boolean; end?: ProcessEnd; endedAt?: number; timedOut: boolean } = { backgrounded: false, timedOut: false };
      let [killing, endInside, outputFile]: [Disposable?, Promise<void>?, string?] = [];
      function kill(graceMs = KILL_AFTER_MS): void {
        if (state.end || killing) return;
        // First: the program may be gone, and with it what is known of the rest.
        endInside = input.killInside?.().catch(() => undefined);
        signal("SIGTERM");
        killing = clock.after(graceMs, () => signal("SIGKILL"));
      }
      const timer = input.timeoutMs === undefined ? undefined : clock.after(input.timeoutMs, () => ((state.timedOut = true), kill()));
      const attending = child.pid === undefined ? undefined : input.attend?.(child.pid, () => signal("SIGKILL"));
      const ended = child.exited.then(async (exit): Promise<ProcessEnd> => {
        output.end();
        timer?.[Symbol.dispose]();
        attending?.[Symbol.dispose]();
        record?.[Symbol.dispose]();
        await endInside;
        // What ignored the first signal is still in the group.
        if (killing) signal("SIGKILL");
        killing?.[Symbol.dispose]();
        state.endedAt = clock.now();
        outputFile = await settled(id, output, input.keepOutput);
        state.end = { timedOut: state.timedOut, ...(inTerminal && killing ? killedExit(exit) : exit) };
        remember(process, known, clock, input.cleanupMs);
        return state.end;
      });
      const process: CommandProcess = {
        id,
        pid: child.pid,
        scope: input.scope,
        command: input.command,
        cwd: input.shownCwd ?? input.cwd,
        startedAt: clock.now(),
        output,
        get outputFile() {
          return outputFile;
        },
        get backgrounded() {
          return state.backgrounded;
        },
        get end() {
          return state.end;
        },
        get endedAt() {
          return state.endedAt;
        },
        ended,
        emptyPolls: 0,
        isEndSeen: false,
        toBackground(announced = false) {
          state.backgrounded = true;
          if (announced && !state.end) record?.announce();
        },
        terminal: inTerminal,
        write: (data) => !state.end && child.write(data),
        get killed() {
          return killing !== undefined;
        },
        kill,
      };
      known.set(id, process);
      return process;
    },
    ...inBackground(known),
    async [Symbol.asyncDispose]() {
      closing = true;
      await endAll([...known.values()].filter((process) => !process.end));
    },
  };
}

/** What ran in the background is known for a while after its end. */
function remember(process: CommandProcess, known: Map<string, CommandProcess>, clock: Clock, cleanupMs: number = CLEANUP_MS.default): void {
  if (!process.backgrounded) known.delete(process.id);
  else clock.after(Math.min(Math.max(cleanupMs, CLEANUP_MS.min), CLEANUP_MS.max), () => known.delete(process.id));
}

async function endAll(running: readonly CommandProcess[]): Promise<void> {
  for (const process of running) process.kill();
  await Promise.all(running.map((process) => process.ended));
}

/** Keeps an output that is too long to be shown, if it is wanted; then nothing of it is on disk here any more. */
async function settled(id: string, output: CommandOutput, keep: StartInput["keepOutput"]): Promise<string | undefined> {
  const kept = output.isLong ? await keep?.(id, output).catch(() => undefined) : undefined;
  await output.release();
  return kept;
}

type Started = Omit<StartInput, "program" | "args" | "env">;

/** So that it does not outlive a gateway that is killed. What runs on another machine is that machine's to end. */
const recorded = (records: CommandRecords | undefined, id: string, pid: number | undefined, { scope, command, terminal }: Started) =>
  pid === undefined ? undefined : records?.add({ id, pid, sessionKey: scope, command, terminal: terminal === "here" });

interface Begun {
  readonly child: Pick<Child, "write"> & { readonly pid?: number; readonly exited: RemoteCommand["exited"] };
  readonly signal: (name: "SIGTERM" | "SIGKILL") => boolean;
  readonly output: CommandOutput;
  readonly inTerminal: boolean;
}

function connected({ connect, onOutput }: RemoteInput, limits: OutputLimits | undefined, secrets: ProcessesDeps["secrets"]): Begun {
  const output = new CommandOutput(limits, undefined, secrets);
  const { exited, stop } = connect((stream, text) => {
    // Another machine does not wait for a disk here.
    void output.add(stream, Buffer.from(text));
    onOutput?.();
  });
  return { child: { exited, write: () => false }, signal: () => (stop(), true), output, inTerminal: false };
}

async function begin(input: StartInput, limits: OutputLimits | undefined, secrets: ProcessesDeps["secrets"]): Promise<Begun> {
  const inTerminal = input.terminal !== undefined;
  const output = new CommandOutput(limits, inTerminal ? new TerminalText(() => void child.write(CURSOR)) : undefined, secrets);
  const child = await startChild(input.program, {
    args: input.args,
    cwd: input.cwd,
    env: input.env,
    input: inTerminal,
    onOutput(stream, chunk) {
      const busy = output.add(stream, chunk);
      input.onOutput?.();
      return busy;
    },
  });
  return { child, signal: input.terminal === "here" ? terminalSignals(child) : child.signal, output, inTerminal };
}

/** What holds a terminal ends with 128 and the number of the signal that ended the command. */
function killedExit(exit: ChildExit): ChildExit {
  const [signal] = Object.entries(constants.signals).find(([, number]) => exit.code === 128 + number) ?? [];
  return signal === undefined ? exit : { code: null, signal };
}
