import { AppError } from "../../base/errors.ts";
import { loadWhy, type Story, type StoryStep } from "../../conversation/index.ts";
import { inspectStore } from "../../store/index.ts";
import { defineCommand } from "../command.ts";
import { connectTo, GATEWAY_OPTIONS, timeoutOf, type GatewayFlags } from "../gateway-call.ts";
import { findTarget } from "../gateway-target.ts";
import { printJson, type Io } from "../io.ts";
import { clip, formatDuration } from "../../base/text.ts";
import { createStyle, type Style } from "../output/style.ts";

const MOST = 50;

function lastOf(value: string | undefined): number {
  const last = Number(value ?? 1);
  if (Number.isInteger(last) && last >= 1 && last <= MOST) return last;
  throw new AppError("INVALID_INPUT", `--last takes a whole number from 1 to ${MOST}, not "${value}"`);
}

/** From the gateway, or from the state folder while none runs or the one that runs does not answer. */
async function stories(io: Io, flags: GatewayFlags, what: string, last: number): Promise<readonly Story[]> {
  const target = await findTarget(io, flags);
  const hasCredentials = flags.token !== undefined || flags.password !== undefined;
  if (target.kind !== "local" || target.holder || hasCredentials) {
    try {
      await using client = await connectTo(io, target, timeoutOf(flags));
      return (await client.request("why", { what, last })).stories as readonly Story[];
    } catch (error) {
      const isSilent = error instanceof AppError && (error.code === "UNAVAILABLE" || error.code === "TIMEOUT") && error.details["protocolCode"] === undefined;
      if (!isSilent || target.kind !== "local" || hasCredentials) throw error;
      io.err(`process ${target.holder?.pid} does not answer. Showing data from its state folder\n`);
    }
  }
  using state = inspectStore(target.stateDir);
  if (!state) throw new AppError("NOT_FOUND", `no messages yet: ${target.stateDir} has no state; start the gateway first`);
  const { createWhy } = await loadWhy();
  return await createWhy({ store: state, now: io.now }).tell(what, { last, closely: true });
}

export const why = defineCommand({
  positionals: "<message, session or run>",
  options: {
    ...GATEWAY_OPTIONS,
    last: { type: "string", value: "n", help: "Number of messages, for a session (default 1)" },
    verbose: { type: "boolean", help: "Show the details of each step" },
  },
  examples: [
    { line: "openclaw why 4711", does: "Message with the platform id 4711" },
    { line: "openclaw why telegram:default:123:4711", does: "Message in a specific chat" },
    { line: "openclaw why agent:main:main --last 3", does: "Last three messages of a session" },
    { line: "openclaw why in:1 --verbose", does: "Inbox row with all details" },
  ],
  async run({ io, values, positionals }) {
    const [what, extra] = positionals;
    if (what === undefined || what.trim() === "" || extra !== undefined)
      throw new AppError("INVALID_INPUT", "expected one message, session or run, such as: openclaw why agent:main:main");
    const found = await stories(io, values, what, lastOf(values.last));
    if (values.json) return printJson(io, { stories: found });
    const why = await loadWhy();
    io.out(found.map((story) => timeline(story, { ...io, verbose: values.verbose ?? false }, why)).join("\n"));
  },
});

type WhyModule = Awaited<ReturnType<typeof loadWhy>>;

interface Screen {
  readonly color: boolean;
  readonly columns: number;
  readonly verbose: boolean;
  readonly runnable: (text: string) => string;
}

const two = (value: number, width = 2): string => String(value).padStart(width, "0");

/** In the reader's time zone: `14:03:22.125`. */
function timeOf(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${two(date.getMilliseconds(), 3)}`;
}

const dayOf = (at: number): string => {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
};

const LEVELS = { ok: "green", wait: "yellow", bad: "red" } as const satisfies Readonly<Record<Story["verdict"]["level"], keyof Style>>;

/** Steps that went wrong catch the eye. */
function paint({ kind, details }: StoryStep, style: Style): (text: string) => string {
  const bad =
    kind === "attempt" || details?.["isError"] === true || details?.["failed"] === true || details?.["unknown"] === true || details?.["state"] === "failed";
  if (bad) return style.red;
  return kind === "hook" || kind === "queue" ? style.dim : (text) => text;
}

function nameOf({ inboxId, messageId, channel, account, conversation, turnId, outboxId, start }: Story["about"]): string {
  if (inboxId !== undefined && start) return `in:${inboxId} ${start.text}`;
  if (inboxId !== undefined) return `in:${inboxId} ${[channel, account, conversation, messageId].join(":")}`;
  return turnId === undefined ? `out:${outboxId ?? "?"}` : `turn ${turnId}`;
}

/** A story as a timeline: the verdict, then time, what, how long, and what happened. */
export function timeline(
  story: Story,
  { color, columns, verbose, runnable }: Screen,
  { isTelling, shown, stepText, STEP_NAMES }: Pick<WhyModule, "isTelling" | "shown" | "stepText" | "STEP_NAMES">,
): string {
  const style = createStyle(color);
  const { about, verdict, others } = story;
  const steps = verbose ? story.steps : story.steps.filter(isTelling);
  const started = steps[0]?.at;
  const tookOf = ({ ms }: (typeof steps)[number]): string => (ms === undefined ? "" : formatDuration(ms));
  const wide = Math.max(4, ...steps.map((step) => tookOf(step).length));
  const available = Math.max(20, columns - 12 - 10 - wide - 6);
  const lines = steps.flatMap((step) => {
    const text = shown(stepText(step));
    const line = `${style.dim(timeOf(step.at))}  ${style.cyan(STEP_NAMES[step.kind].padEnd(10))}  ${tookOf(step).padStart(wide)}  ${paint(step, style)(verbose ? text : clip(text, available - 1))}`;
    return verbose && step.details ? [line, style.dim(`${" ".repeat(14)}${shown(JSON.stringify(step.details))}`)] : [line];
  });
  const session = about.sessionKey === undefined ? "" : `, session ${about.sessionKey}`;
  return [
    `${style.bold(shown(nameOf(about)))}${style.dim(shown(`${started === undefined ? "" : `, ${dayOf(started)}`}${session}`))}`,
    style[LEVELS[verdict.level]](shown(verdict.text)),
    ...(verdict.todo === undefined ? [] : [`${style.dim("fix:")} ${shown(runnable(verdict.todo))}`]),
    "",
    style.dim(`${"time".padEnd(12)}  ${"what".padEnd(10)}  ${"took".padStart(wide)}`),
    ...lines,
    ...(others.length === 0 ? [] : ["", style.dim(`Also matches: ${others.map((other) => shown(nameOf(other))).join(", ")}`)]),
  ]
    .map((line) => `${line}\n`)
    .join("");
}
