import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { createIds } from "../../../base/ids.ts";
import { systemRandom } from "../../../base/random.ts";
import { defineCommand, type Values } from "../../command.ts";
import { connectTo } from "../../gateway-call.ts";
import { findTarget } from "../../gateway-target.ts";
import type { Io } from "../../io.ts";
import { openLink, type Made } from "./gateway/link.ts";
import { runTui } from "./run.ts";
import { initialState, type State } from "./state/state.ts";
import { sendMessage } from "./state/sending.ts";
import { guardEndings } from "./terminal/endings.ts";
import { hasTerminal, openTerminal } from "./terminal/terminal.ts";

const OPTIONS = {
  url: { type: "string", value: "ws", help: "Gateway to connect to (needs --token or --password)" },
  token: { type: "string", value: "text", help: "Gateway token, instead of the stored one" },
  password: { type: "string", value: "text", help: "Gateway password" },
  session: { type: "string", value: "key", help: "Session to open (default main)" },
  deliver: { type: "boolean", help: "Also deliver replies to the session's chat" },
  thinking: { type: "string", value: "level", help: "Thinking level: off, minimal, low, medium, high or xhigh" },
  message: { type: "string", value: "text", help: "Send this message first" },
  "timeout-ms": { type: "string", value: "ms", help: "Time limit for a reply, in ms (default: from the configuration)" },
  "history-limit": { type: "string", value: "n", help: "Number of messages to load, at most 1000 (default 200)" },
} as const;

const CONNECT_MS = 10_000;
const MOST_HISTORY = 1000;

function whole(values: Values<typeof OPTIONS>, name: "timeout-ms" | "history-limit", least: number, most: number): number | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  throw new AppError("INVALID_INPUT", `--${name} takes a whole number from ${least} to ${most}, not "${text}"`);
}

function startState(values: Values<typeof OPTIONS>, newId: () => string): State {
  const preferences = {
    deliver: values.deliver ?? false,
    thinking: values.thinking,
    timeoutMs: whole(values, "timeout-ms", 0, Number.MAX_SAFE_INTEGER),
    historyLimit: whole(values, "history-limit", 1, MOST_HISTORY) ?? 200,
  };
  const state = initialState({ url: values.url ?? "gateway", sessionKey: values.session ?? "main", preferences });
  if (values.message === undefined) return state;
  return sendMessage(state, values.message, { now: systemClock.now(), newId, layout: { lines: 0, height: 1 } }).state;
}

async function connect(io: Io, values: Values<typeof OPTIONS>, onGap: () => void): Promise<Made> {
  const target = await findTarget(io, values);
  const client = { id: "gateway-client", mode: "ui", displayName: "openclaw-tui", version: io.version, platform: process.platform } as const;
  return { client: await connectTo(io, target, CONNECT_MS, "cli", { client, caps: ["tool-events"], requestTimeoutMs: 30_000, onGap }), url: target.url };
}

/** Prints messages that were not delivered: they are stored nowhere else. */
function reportUnsent(io: Io, { sent }: State): void {
  const unsent = sent.filter(({ state }) => state === "sending");
  if (unsent.length === 0) return;
  io.err(`The gateway did not confirm ${unsent.length === 1 ? "this message" : "these messages"}:\n${unsent.map(({ text }) => `  ${text}\n`).join("")}`);
}

/** The terminal interface: chat, sessions, models, tools and approvals for people who live in a terminal. */
export const tui = defineCommand({
  options: OPTIONS,
  examples: [
    { line: "openclaw tui", does: "Chat in the main session" },
    { line: "openclaw tui --session work --thinking high", does: "Another session, with more thinking" },
  ],
  async run({ io, values }) {
    const { uuid } = createIds(systemRandom);
    const start = startState(values, uuid);
    if (!hasTerminal()) {
      io.err("error: openclaw tui needs a terminal; without one use: openclaw agent --agent main --message <text>\n");
      return 2;
    }
    using terminal = openTerminal();
    using _guard = guardEndings(terminal.leave);
    const last = await runTui(
      {
        terminal,
        colour: io.color,
        env: io.env,
        cwd: io.cwd,
        newId: uuid,
        openLink: (dispatch) =>
          openLink({
            connect: (onGap) => connect(io, values, onGap),
            dispatch,
            clock: systemClock,
            random: systemRandom.float,
            wait: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
          }),
        loadMarkdown: async () => (await (await import("../../../channels/index.ts")).loadRichText()).parseMarkdown,
      },
      start,
    );
    terminal.leave();
    reportUnsent(io, last);
    return 0;
  },
});
