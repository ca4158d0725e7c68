import type { AskedCommand } from "../model/commands.ts";
import type { Call } from "../model/items.ts";
import type { CardFacts } from "./card.ts";
import { outputOf } from "./output.ts";

function stateOf({ state, exitCode, timedOut }: AskedCommand): CardFacts["state"] {
  if (state !== "ended") return state;
  return timedOut === true || typeof exitCode !== "number" ? "failed" : "done";
}

function noteOf({ state, by, why, timedOut, exitCode, signal }: AskedCommand): string | undefined {
  const who = by === undefined ? "" : ` by ${by}`;
  if (state === "asked") return "It runs once it is approved.";
  if (state === "running") return `It was allowed${who}.`;
  if (state === "expired") return "It did not run: nobody decided in time.";
  if (state === "lost") return "The gateway ended while it ran. What it did is not known, and it is not run again.";
  if (state === "denied") {
    if (why === "spawn-failed") return "It was allowed, and could not be started.";
    return why === "gateway-restarted" ? "It did not run: the gateway restarted first." : `It did not run: it was denied${who}.`;
  }
  if (timedOut === true) return `It was allowed${who}, and ended because it took too long.`;
  return typeof exitCode === "number" ? `It was allowed${who}.` : `It was allowed${who}, and ended by ${signal ?? "a signal"}.`;
}

/** The facts of a call that needed approval: its result says only that approval was requested. */
export function factsOfAsked({ name, args }: Pick<Call, "name" | "args">, asked: AskedCommand): CardFacts {
  const { startedAt, endedAt, exitCode, output = "" } = asked;
  return {
    name,
    args,
    state: stateOf(asked),
    output: outputOf(output),
    details: typeof exitCode === "number" ? { exitCode } : undefined,
    startedAt,
    endedAt,
    note: noteOf(asked),
  };
}
