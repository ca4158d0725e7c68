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
  const found = /^\/([A-Za-z][\w-]*)(?:\s+([\s\S]*))?$/.exec(text.trim());
  const command = found && table.get(found[1]!.toLowerCase());
  if (!command) return undefined;
  const args = found[2]?.trim();
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

/** How long a command may take: messages of the same chat wait behind it. */
const LIMIT_MS = 60_000;

/** Waits for a command within its limit. What it does later is nobody's answer any more. */
async function inTime<T>(work: T | Promise<T>, name: string, clock: Pick<Clock, "after">): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  using _timer = clock.after(LIMIT_MS, () => reject(new AppError("TIMEOUT", `the command /${name} did not end within ${LIMIT_MS / 1000} s`)));
  return await Promise.race([work, promise]);
}

/** Runs a command and gives the reply payload. Never rejects: a failure is a reply, and `onError` is notified. */
export async function runCommand(
  { command, args }: CommandMatch,
  context: Readonly<Record<string, unknown>> & { readonly isAuthorizedSender: boolean },
  { onError, clock }: { readonly onError: (pluginId: string, error: unknown) => void; readonly clock: Pick<Clock, "after"> },
): Promise<Readonly<Record<string, unknown>>> {
  const { owner, value } = command;
  if (value.requireAuth && !context.isAuthorizedSender) return { text: UNAUTHORISED };
  try {
    const reply = await inTime(value.handler({ ...context, ...(args === undefined ? {} : { args }) }), value.name, clock);
    if (typeof reply === "string") return { text: reply };
    if (typeof reply === "object" && reply !== null && !Array.isArray(reply)) return reply as Readonly<Record<string, unknown>>;
    if (reply === undefined || reply === null) return {};
    throw new TypeError(`the command /${value.name} must return a reply payload, but returned a ${typeof reply}`);
  } catch (error) {
    onError(owner.pluginId, error);
    return { text: FAILED };
  }
}
