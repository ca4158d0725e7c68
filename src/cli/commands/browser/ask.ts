import { AppError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/records.ts";
import { defineCommand, type Command, type Example, type OptionSpecs, type Values } from "../../command.ts";
import { connectTo, GATEWAY_OPTIONS, timeoutOf } from "../../gateway-call.ts";
import { findTarget } from "../../gateway-target.ts";
import { printJson, type Io } from "../../io.ts";

/** Flags of every command about the browser. */
const OPTIONS = {
  "browser-profile": { type: "string", value: "name", help: "Browser profile (default: the default profile)" },
  ...GATEWAY_OPTIONS,
  timeout: { type: "string", value: "ms", help: "Time to wait, in ms (default 30000)" },
} as const;

export const TARGET = { "target-id": { type: "string", value: "tab", help: "Tab, such as t1 (default: the current tab)" } } as const;

const DEFAULT_MS = 30_000;
/** How long the gateway may take besides the page. */
const SPARE_MS = 5000;

export interface Asked {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** How long the page may take. */
  readonly timeoutMs?: number;
}

type Answer = Readonly<Record<string, unknown>>;

interface BrowserCommand<O extends OptionSpecs> {
  readonly positionals?: string;
  readonly options?: O;
  readonly examples?: readonly Example[];
  ask(values: Values<O & typeof TARGET>, positionals: readonly string[]): Asked;
  /** Default: a page, or "Done". */
  print?(io: Io, answer: Answer, values: Values<O>): void;
}

export function needed(text: string | undefined, what: string): string {
  if (text === undefined || text.trim() === "") throw new AppError("INVALID_INPUT", `expected ${what}`);
  return text;
}

export const numberOf = (text: string | undefined, flag: string): number | undefined => {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!Number.isFinite(number)) throw new AppError("INVALID_INPUT", `${flag} takes a number, not "${text}"`);
  return number;
};

/** A page, or what changed on it. */
export function printPage(io: Io, answer: Answer): void {
  const { targetId, url, events, note, text, shows, result } = answer;
  const lines = [
    ...(typeof targetId === "string" ? [`Tab ${targetId}${typeof url === "string" && url !== "" ? `  ${url}` : ""}`] : []),
    ...(Array.isArray(events) ? events.map((event) => `* ${String(event)}`) : []),
    ...(result === undefined ? [] : [JSON.stringify(result, null, 2)]),
    ...(typeof note === "string" ? [`(${note})`] : []),
    ...(typeof text === "string" && text !== "" ? [text] : shows === "same" ? ["The page did not change"] : []),
  ];
  io.out(`${lines.length === 0 ? "Done" : lines.join("\n")}\n`);
}

/** A command that asks the gateway's browser for one thing. */
export function browserCommand<const O extends OptionSpecs>(command: BrowserCommand<O>): Command {
  const { positionals, examples = [], ask, print = printPage } = command;
  const options = { ...(command.options ?? ({} as O)), ...TARGET, ...OPTIONS };
  return defineCommand({
    ...(positionals === undefined ? {} : { positionals }),
    options,
    examples,
    async run({ io, values, positionals: given }) {
      const flags = values as Values<typeof OPTIONS & typeof TARGET>;
      const { method = "POST", path, params = {}, timeoutMs } = ask(values as Values<O & typeof TARGET>, given);
      const present = Object.entries({ targetId: flags["target-id"], profile: flags["browser-profile"], ...params }).filter(([, value]) => value !== undefined);
      const all = Object.fromEntries(present);
      const wait = Math.max(timeoutOf(flags, DEFAULT_MS), (timeoutMs ?? 0) + SPARE_MS);
      await using client = await connectTo(io, await findTarget(io, flags), wait);
      const asked = method === "POST" ? { body: all } : { query: all };
      const answer: unknown = await client.request("browser.request", { method, path, ...asked, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
      if (flags.json) printJson(io, answer);
      else print(io, isRecord(answer) ? answer : {}, values as Values<O>);
    },
  });
}
