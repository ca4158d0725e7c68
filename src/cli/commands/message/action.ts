import { randomUUID } from "node:crypto";
import { AppError, messageOf } from "../../../base/errors.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { defineCommand, type Command, type Example, type OptionSpec, type OptionSpecs } from "../../command.ts";
import { callGateway, GATEWAY_OPTIONS } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";

/** A flag, and what the action calls it. */
export interface ActionFlag extends OptionSpec {
  readonly param: string;
  /** How the text becomes a value. Default: as it is. */
  readonly as?: "number" | "json" | "false";
}

export interface ActionSpec {
  /** As channels name it. */
  readonly action: string;
  /** Whether it is done in a chat that has to be named. Default true. */
  readonly target?: boolean;
  readonly flags: Readonly<Record<string, ActionFlag>>;
  /** Flags that cannot be left out; of a list one is enough. */
  readonly required?: readonly (string | readonly string[])[];
  readonly examples?: readonly Example[];
}

const COMMON_OPTIONS = {
  channel: { type: "string", value: "id", help: "Channel (optional if exactly one is configured)" },
  account: { type: "string", value: "id", help: "Account (default: the channel's first account)" },
  "dry-run": { type: "boolean", help: "Show what would happen without doing it" },
  verbose: { type: "boolean", help: "Show more output" },
  ...GATEWAY_OPTIONS,
} as const;

const TARGET_OPTION = { type: "string", short: "t", value: "chat", help: "Chat or person, in the channel's format" } as const;

type FlagValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

const invalid = (text: string): AppError => new AppError("INVALID_INPUT", text);

function valueOf(name: string, { as }: ActionFlag, value: NonNullable<FlagValues[string]>): unknown {
  if (as === "false") return false;
  if (as === undefined || typeof value !== "string") return value;
  if (as === "number") {
    const number = Number(value);
    if (value.trim() === "" || !Number.isFinite(number)) throw invalid(`--${name} takes a number, not "${value}"`);
    return number;
  }
  try {
    const parsed: unknown = JSON.parse(value);
    return parsed;
  } catch {
    throw invalid(`--${name} takes JSON, found ${JSON.stringify(value.slice(0, 80))}`);
  }
}

/** Parameters of the action, and a complaint when something is missing. */
function paramsOf({ flags, required = [], target = true }: ActionSpec, values: FlagValues): Record<string, unknown> {
  const params: Record<string, unknown> = {};
  if (target && values["target"] === undefined) throw invalid("--target is missing: say which chat or person is meant");
  if (values["target"] !== undefined) params["to"] = values["target"];
  for (const need of required) {
    const names = typeof need === "string" ? [need] : need;
    if (names.every((name) => values[name] === undefined)) throw invalid(`${names.map((name) => `--${name}`).join(" or ")} is missing`);
  }
  for (const [name, flag] of Object.entries(flags)) {
    const value = values[name];
    if (value !== undefined) params[flag.param] = valueOf(name, flag, value);
  }
  return params;
}

/** What only its channel understands goes under the channel's id. */
function withChannelData({ buttons, components, card, ...params }: Record<string, unknown>, channel: string | undefined): Record<string, unknown> {
  const own = Object.fromEntries(Object.entries({ buttons, components, card }).filter(([, value]) => value !== undefined));
  if (Object.keys(own).length === 0) return params;
  if (channel === undefined) throw invalid("--channel is missing: --buttons, --components and --card are meant for one");
  return { ...params, channelData: { [channel]: own } };
}

interface Asked {
  readonly action: string;
  readonly channel?: string;
  readonly accountId?: string;
  readonly params: Record<string, unknown>;
}

/** Asks the gateway. A dry run without a gateway shows what would be asked. */
async function perform(io: Io, asked: Asked, values: FlagValues): Promise<MethodResult<"message.action">> {
  const flags = values as Parameters<typeof callGateway>[3];
  if (!values["dry-run"]) return callGateway(io, "message.action", { ...asked, idempotencyKey: randomUUID() }, { timeout: "45000", ...flags });
  try {
    return await callGateway(io, "message.action", { ...asked, dryRun: true }, flags);
  } catch (error) {
    if (!(error instanceof AppError && error.code === "UNAVAILABLE")) throw error;
    io.err("No gateway is running: nothing was checked\n");
    return { ...asked, dryRun: true };
  }
}

/** For people: where it went, or what came back. */
export function show(io: Io, done: MethodResult<"message.action">): void {
  const { action, channel, to, messageIds, dryRun, result } = done;
  const where = [channel, to].filter((part) => typeof part === "string").join(" ");
  const ids = Array.isArray(messageIds) && messageIds.length > 0 ? ` (${messageIds.join(", ")})` : "";
  if (result !== undefined) io.out(`${typeof result === "string" ? result : JSON.stringify(result, null, 2)}\n`);
  else io.out(`${dryRun ? "would " : ""}${action}${where === "" ? "" : ` → ${where}`}${ids}\n`);
}

/** What a message went out without. None: it is whole. */
const missingFrom = ({ why, dryRun }: Readonly<Record<string, unknown>>): string | undefined =>
  typeof why === "string" && !dryRun ? `${why}; the text was sent without it` : undefined;

/** Half of what was asked is no success: the exit code is 1. */
export function reportMissing(io: Io, done: Readonly<Record<string, unknown>>): number {
  const missing = missingFrom(done);
  if (missing === undefined) return 0;
  io.err(`${missing}\n`);
  return 1;
}

export function actionCommand(spec: ActionSpec): Command {
  const options: OptionSpecs = { ...spec.flags, ...(spec.target === false ? {} : { target: TARGET_OPTION }), ...COMMON_OPTIONS };
  return defineCommand({
    options,
    examples: spec.examples ?? [],
    async run({ io, values, positionals }) {
      if (positionals.length > 0) throw invalid(`unexpected argument ${JSON.stringify(positionals[0])}`);
      const flagValues: FlagValues = values;
      const channel = typeof flagValues["channel"] === "string" ? flagValues["channel"].trim().toLowerCase() : undefined;
      const { account } = flagValues;
      const params = withChannelData(paramsOf(spec, flagValues), channel);
      const address = { ...(channel === undefined ? {} : { channel }), ...(typeof account === "string" ? { accountId: account } : {}) };
      const done = await perform(io, { action: spec.action, ...address, params }, flagValues);
      if (flagValues["json"]) printJson(io, done);
      else show(io, done);
      return reportMissing(io, done);
    },
  });
}

interface Result {
  readonly target: string;
  readonly channel?: string;
  readonly ok: boolean;
  readonly messageIds?: unknown;
  readonly error?: string;
}

/** One text to many. Each has an outcome of its own; one that fails does not stop the others. */
export const broadcast = defineCommand({
  options: {
    ...COMMON_OPTIONS,
    targets: { type: "string", multiple: true, value: "chat", help: "Recipient; repeatable" },
    message: { type: "string", short: "m", value: "text", help: "Text" },
    media: { type: "string", value: "file", help: "File path or URL" },
  },
  examples: [{ line: `openclaw message broadcast --channel telegram --targets 1 --targets 2 -m "hello" --dry-run`, does: "Send the same text to two chats" }],
  async run({ io, values, positionals }) {
    const targets = [...(values.targets ?? []), ...positionals];
    const { message, media, account } = values;
    if (targets.length === 0) throw new AppError("INVALID_INPUT", "--targets is missing: say who gets it");
    if (message === undefined && media === undefined) throw new AppError("INVALID_INPUT", "--message or --media is missing");
    const channel = values.channel?.trim().toLowerCase();
    const results: Result[] = [];
    for (const to of targets) {
      const params = { to, ...(message === undefined ? {} : { message }), ...(media === undefined ? {} : { media }) };
      const asked = { action: "send", params, ...(channel === undefined ? {} : { channel }), ...(account === undefined ? {} : { accountId: account }) };
      const named = channel === undefined ? {} : { channel };
      try {
        const done = await perform(io, asked, values);
        const { messageIds } = done;
        const error = missingFrom(done);
        const ids = messageIds === undefined ? {} : { messageIds };
        results.push({ target: to, ...named, ok: error === undefined, ...ids, ...(error === undefined ? {} : { error }) });
      } catch (error) {
        results.push({ target: to, ...named, ok: false, error: messageOf(error) });
      }
    }
    const ok = results.every((result) => result.ok);
    if (values.json) printJson(io, { ok, results, ...(values["dry-run"] ? { dryRun: true } : {}) });
    else for (const { target, ok: done, error } of results) io.out(`${target}: ${done ? (values["dry-run"] ? "would be sent" : "sent") : error}\n`);
    return ok ? 0 : 1;
  },
});
