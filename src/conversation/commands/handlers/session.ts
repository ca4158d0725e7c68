import type { ModelRef } from "../../../models/index.ts";
import { usageFooter } from "../../../sessions/index.ts";
import { GREETING } from "../../contract.ts";
import type { CommandVerdict } from "../commands.ts";
import { answered, count, type Handler, type Handling, notThere } from "../handling.ts";
import { formatRef, modelChooser, type ModelChooser } from "../models/choose.ts";
import { score } from "../models/match.ts";
import { overrideFor } from "../models/override.ts";
import { readUsage } from "../parsing/levels.ts";
import type { UsageTotal } from "../ports.ts";
import { contextUse } from "./status.ts";

const plural = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`;

/** Ends what runs before anything else is done. */
export const stop: Handler = async ({ ports, call, key }) => {
  const { runIds, turns = runIds.length, waiting = 0, processes = 0, subagents = 0 } = await ports.runs.stop(key);
  const entry = await ports.session.read(key);
  if (entry && turns > 0) await ports.session.patch(key, call.agentId, { abortedLastRun: true });
  // Texts of its hooks are for nobody.
  await ports.fire("stop", key, { sessionEntry: entry, sessionId: entry?.sessionId, commandSource: call.channel, senderId: call.senderId });
  const parts = [
    waiting > 0 ? `dropped ${plural(waiting, "waiting message", "waiting messages")}` : "",
    processes > 0 ? `killed ${plural(processes, "process", "processes")}` : "",
    subagents > 0 ? `stopped ${plural(subagents, "sub-agent", "sub-agents")}` : "",
  ].filter((part) => part !== "");
  const first = runIds.length > 0 ? "Stopped." : parts.length > 0 ? "No run was active." : "Nothing was running.";
  const text = parts.length === 0 ? first : `${first} Also ${parts.join(", ")}.`;
  return { ...answered(text, "stop"), stopped: runIds };
};

export const compact: Handler = async ({ ports, call, key, args }) => {
  call.tookLong?.();
  const report = await ports.session.compact(key, call.agentId, args === "" ? undefined : args, call.signal);
  const text = report.compacted ? `Compacted (${count(report.tokensBefore)} → ${count(report.tokensAfter)} tokens)` : `Not compacted: ${report.reason}`;
  const use = contextUse(await ports.session.read(key), undefined);
  const line = use === undefined ? text : `${text} • Context ${use}`;
  if (report.compacted) await ports.systemEvent?.(key, line);
  return line;
};

/** How the last message was answered. */
export async function trace({ ports, key, args }: Handling): Promise<string> {
  if (!ports.why) return "/trace is not available in this gateway.";
  const story = await ports.why(key, args === "" ? undefined : args.slice(0, 200));
  return story === undefined || story === "" ? "No trace yet: no message in this session has been answered." : ports.redact(story);
}

const NEXT = { off: "tokens", tokens: "full", full: "off" } as const;

/** The footer below answers: set, or moved on by one; or what was spent. */
export const usage: Handler = async ({ ports, call, key, args }) => {
  const word = args.toLowerCase();
  if (word === "cost") {
    if (!ports.usage) return notThere("usage cost", "this gateway does not track costs");
    const { session, today, last30Days } = await ports.usage.summary(key);
    return ["**Usage**", `Session: ${total(session)}`, `Today: ${total(today)}`, `Last 30 days: ${total(last30Days)}`].join("\n");
  }
  const mode = word === "" ? NEXT[usageFooter(await ports.session.read(key)).value] : readUsage(word);
  if (mode === undefined) return "Usage: /usage off|tokens|full|cost";
  await ports.session.patch(key, call.agentId, { responseUsage: mode === "off" ? null : mode });
  return `Usage below answers: ${mode}.`;
};

function total({ costUsd, tokens, partial }: UsageTotal): string {
  const cost = costUsd === undefined ? "cost unknown" : `$${costUsd.toFixed(costUsd < 1 ? 4 : 2)}${partial ? " (partial)" : ""}`;
  return `${cost} · ${count(tokens)} tokens`;
}

/** Parts of models' names that are ordinary words: a message may begin with them. */
const ORDINARY = new Set(
  "preview instruct thinking reasoning vision search online latest coding medium experimental standard realtime image reasoner deepthink speech research".split(
    " ",
  ),
);
const SHORTEST = 6;

/** A model that `/new` is followed by, and the rest. Words that are not clearly one are the beginning of a message. */
function modelHint(chooser: ModelChooser, args: string): { readonly ref: ModelRef; readonly rest: string } | undefined {
  const [, first = "", second = "", rest = ""] = /^(\S{1,200})(?:\s+(\S{1,200}))?([\s\S]*)$/.exec(args) ?? [];
  const afterFirst = args.slice(first.length).trim();
  const named = chooser.exact(first);
  // An id of the default provider that nobody knows is no model.
  if (named) return { ref: named, rest: afterFirst };
  const pair = second === "" || !chooser.models.some(({ provider }) => provider === first.toLowerCase()) ? undefined : chooser.exact(`${first}/${second}`);
  if (pair) return { ref: pair, rest: rest.trim() };
  if (first.length < SHORTEST || ORDINARY.has(first.toLowerCase()) || !isName(chooser, first)) return undefined;
  const chosen = chooser.choose(first);
  return "ref" in chosen ? { ref: chosen.ref, rest: afterFirst } : undefined;
}

/** Whether a part of some model's name begins so. */
function isName({ models }: ModelChooser, word: string): boolean {
  const wanted = word.toLowerCase();
  return models.some(
    ({ id }) => score(wanted, id) >= 0.8 && (id.toLowerCase().startsWith(wanted) || /[-/.]/.test(id[id.toLowerCase().indexOf(wanted) - 1] ?? "")),
  );
}

type Turn = Extract<CommandVerdict, { kind: "turn" }>;

/**
 * A new session id; then a turn with what else was said, or with a greeting, unless no model can give it. `said` is what the sender said, without the
 * model.
 */
export async function reset({ ports, call, key, name, args }: Handling): Promise<{ readonly turn: Turn; readonly said: string } | { readonly answer: string }> {
  const reason = name === "reset" ? "reset" : "new";
  // A session can be reset whatever is wrong with the models.
  const chooser = await modelChooser(ports, call.agentId).catch((error: unknown) => {
    ports.onError(name, error);
    return undefined;
  });
  const hint = args === "" || !chooser ? undefined : modelHint(chooser, args);
  const previous = await ports.session.read(key);
  const notices = await ports.fire(reason, key, {
    sessionEntry: previous,
    previousSessionEntry: previous,
    sessionId: previous?.sessionId,
    commandSource: call.channel,
    senderId: call.senderId,
  });
  await ports.session.reset(key, call.agentId, reason);
  if (hint && chooser) await ports.session.patch(key, call.agentId, overrideFor(hint.ref, chooser.standard));
  const current = chooser && (await ports.models.current(key, call.agentId));
  const ref = current && formatRef(hint?.ref ?? current);
  const standard = chooser && formatRef(chooser.standard);
  // What hooks want to say is a text of its own.
  const said = notices.length === 0 ? [] : [notices.join("\n\n")];
  const notice = ref === undefined ? "New session" : `New session · model ${ref}${ref === standard ? "" : ` (default ${standard})`}`;
  const rest = hint ? hint.rest : args;
  if (rest === "" && current?.problem !== undefined) return { answer: [notice, ...said, `⚠️ ${current.problem}`].join("\n\n") };
  const turn: Turn = {
    kind: "turn",
    text: rest === "" ? GREETING : rest,
    asides: [...(call.canAnswerAside ? [{ text: notice, isStatusNotice: true }] : []), ...said.map((text) => ({ text }))],
    notes: [`/${reason}: a new session was started`, ...(hint ? [`the model ${ref} was selected`] : [])],
  };
  return { turn, said: rest };
}
