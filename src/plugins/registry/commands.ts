import { isRecord } from "../../base/records.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { checksFor } from "./arguments.ts";
import type { Binding } from "./binding.ts";
import type { CommandRegistration } from "./kinds.ts";
import type { Registration } from "./owner.ts";
import type { Table } from "./table.ts";

const MEMBER = "api.registerCommand";
const NAME = /^[a-z][a-z0-9_-]*$/;
const MOST_ARGS = 4096;

/** Commands of the gateway itself. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    "help commands status whoami context stop restart reset new compact config debug allowlist activation skill subagents kill steer tell model models queue " +
    "send bash exec think verbose reasoning elevated usage"
  ).split(" "),
);

export const reservedCommand = (name: string): string | undefined => (RESERVED.has(name) ? "the gateway" : undefined);

/** Registers a chat command that answers without the model. */
export function registerCommand({ ledger, scope }: Binding, table: Table<CommandRegistration>, given: unknown): void {
  const checks = checksFor(MEMBER);
  const definition = checks.fields("command", given);
  const name = checks.text("command.name", definition["name"], 64).toLowerCase();
  if (!NAME.test(name)) checks.fail("command.name", "a letter, then letters, digits, _ and -, without the slash", definition["name"]);
  const description = checks.text("command.description", definition["description"] ?? name);
  const handler = scope.bind(checks.fn("command.handler", definition["handler"]), `command /${name}`);
  const value: CommandRegistration = {
    name,
    description,
    acceptsArgs: definition["acceptsArgs"] === true,
    requireAuth: definition["requireAuth"] !== false,
    handler,
    definition,
  };
  ledger.enter({ kind: "command", name, apply: () => table.add(name, ledger.owner, value) });
}

export interface CommandMatch {
  readonly command: Registration<CommandRegistration>;
  readonly args?: string;
}

/** Which plugin command a text is: `/name`, and after a blank its arguments, if the command takes any. */
export function matchCommand(table: Table<CommandRegistration>, text: string): CommandMatch | undefined {
  if (table.size === 0) return undefined;
  const [, name = "", rest] = /^\/([A-Za-z][\w-]*)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  const command = name === "" ? undefined : table.get(name.toLowerCase());
  if (!command) return undefined;
  const args = rest?.trim();
  if (args === undefined || args === "") return { command };
  return command.value.acceptsArgs ? { command, args: cleanArgs(args) } : undefined;
}

/** Cut to the documented length, else without control characters. */
function cleanArgs(args: string): string {
  if (args.length > MOST_ARGS) return args.slice(0, MOST_ARGS);
  // oxlint-disable-next-line no-control-regex -- they are what is removed
  return args.replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F]/g, "");
}

const UNAUTHORISED = "⚠️ This command requires authorization.";
const FAILED = "⚠️ Command failed. Please try again later.";
const lateText = (name: string): string => `⚠️ /${name} did not finish within ${LIMIT_MS / 1000} seconds and was stopped.`;

/** How long a command may take: messages of the same chat wait behind it. */
const LIMIT_MS = 60_000;

export interface CommandRun {
  readonly onError: (pluginId: string, error: unknown) => void;
  /** A handler ended after the command was stopped or out of time: its result is dropped. */
  readonly onLate?: (pluginId: string, message: string) => void;
  readonly clock: Pick<Clock, "after">;
  /** Stops the command at once, whether its handler listens or not. */
  readonly signal?: AbortSignal;
}

/** Waits for a handler until its time is over or it is stopped; its own signal fires then. */
async function untilStopped<T>(start: (signal: AbortSignal) => T | Promise<T>, name: string, { clock, signal }: CommandRun, late: () => void): Promise<T> {
  const own = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (error: AppError): void => {
    reject(error);
    own.abort(error);
  };
  const stop = (): void => end(new AppError("CANCELLED", `the command /${name} was stopped`));
  using _timer = clock.after(LIMIT_MS, () =>
    end(new AppError("TIMEOUT", `the command /${name} did not finish within ${LIMIT_MS / 1000} s`, { details: { limitMs: LIMIT_MS } })),
  );
  signal?.addEventListener("abort", stop, { once: true });
  try {
    signal?.throwIfAborted();
    const work = Promise.resolve(start(own.signal));
    const isAbort = (error: unknown): boolean => error === own.signal.reason || (error instanceof Error && error.name === "AbortError");
    work.then(
      () => own.signal.aborted && late(),
      (error: unknown) => own.signal.aborted && !isAbort(error) && late(),
    );
    return await Promise.race([work, promise]);
  } finally {
    signal?.removeEventListener("abort", stop);
    // Nobody waits when the handler could not even be started.
    promise.catch(() => {});
  }
}

/** The limit ended it, and not an error of the handler's own. */
const isOutOfTime = (error: unknown): boolean => error instanceof AppError && error.code === "TIMEOUT" && error.details["limitMs"] === LIMIT_MS;

/** Runs a command and gives the reply payload; undefined when it was stopped. Never rejects: a failure is a reply, and `onError` is notified. */
export async function runCommand(
  { command, args }: CommandMatch,
  context: Readonly<Record<string, unknown>> & { readonly isAuthorizedSender: boolean },
  run: CommandRun,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { owner, value } = command;
  if (value.requireAuth && !context.isAuthorizedSender) return { text: UNAUTHORISED };
  try {
    const late = (): void => run.onLate?.(owner.pluginId, `/${value.name} finished after it was stopped; its result is dropped`);
    const start = (signal: AbortSignal): unknown => value.handler({ ...context, ...(args === undefined ? {} : { args }), signal });
    const reply = await untilStopped(start, value.name, run, late);
    if (typeof reply === "string") return { text: reply };
    if (isRecord(reply)) return reply;
    if (reply === undefined || reply === null) return {};
    throw new TypeError(`the command /${value.name} must return a reply payload, but returned a ${typeof reply}`);
  } catch (error) {
    if (run.signal?.aborted) return undefined;
    run.onError(owner.pluginId, error);
    return { text: isOutOfTime(error) ? lateText(value.name) : FAILED };
  }
}
