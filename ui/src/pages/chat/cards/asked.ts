import type { AskedCommand } from "../model/commands.ts";
import type { Call } from "../model/items.ts";
import type { CardFacts } from "./card.ts";
import { outputOf } from "./output.ts";
import { t } from "../../../words/words.ts";

function stateOf({ state, why, exitCode, timedOut }: AskedCommand): CardFacts["state"] {
  if (state === "denied" && why === "gateway-restarted") return "restarted";
  if (state !== "ended") return state;
  return timedOut === true || typeof exitCode !== "number" ? "failed" : "done";
}

function noteOf({ state, by, why, timedOut, exitCode, signal }: AskedCommand): string | undefined {
  const who = by === undefined ? "" : t` by ${by}`;
  if (state === "asked") return t("It runs once it is approved.");
  if (state === "running") return t`It was allowed${who}.`;
  if (state === "expired") return t("It did not run: nobody decided in time.");
  if (state === "lost") return t("The gateway stopped while it was running. Its effects are unknown, and it will not run again.");
  if (state === "denied") {
    if (why === "spawn-failed") return t("It was allowed but could not be started.");
    return why === "gateway-restarted" ? t("It did not run: the gateway restarted first.") : t`It did not run: it was denied${who}.`;
  }
  if (timedOut === true) return t`It was allowed${who} but timed out.`;
  return typeof exitCode === "number" ? t`It was allowed${who}.` : t`It was allowed${who} but terminated by ${signal ?? t("a signal")}.`;
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
