import { isRecord } from "../../base/records.ts";
import { formatDuration } from "../../base/text.ts";
import { EXAMINED_TOO_OFTEN } from "../intake/attempts.ts";
import type { InboxRow, OutboxRow } from "../../store/index.ts";
import { waitsForAccount, withoutResent } from "../delivery/row-facts.ts";
import { payloadOf, stateText } from "./delivery-steps.ts";
import { recordOf, withPath } from "./message-steps.ts";
import type { Verdict } from "./story.ts";
import { lastAttempt, type TurnFacts } from "./turn-steps.ts";

/** How a delivery, or what is left of one, stands. Undefined: all of it arrived. */
function undelivered(all: readonly OutboxRow[]): Pick<Verdict, "level" | "text" | "todo"> | undefined {
  const rows = withoutResent(all);
  const at = (state: OutboxRow["state"]): OutboxRow | undefined => rows.find((row) => row.state === state);
  const failed = at("failed");
  if (failed)
    return {
      level: "bad",
      text: `not delivered: ${failed.why ?? "no reason was given"}`,
      todo: `see what is wrong: openclaw channels status; then send it again: openclaw message resend out:${failed.id}`,
    };
  const unknown = at("unknown");
  if (unknown)
    return { level: "wait", text: `it may not have arrived: ${unknown.why ?? "no answer came"}`, todo: "it is looked after; nothing has to be done" };
  const open = rows.filter(({ state }) => state === "pending" || state === "attempting");
  const [first] = open;
  if (first)
    return {
      level: "wait",
      text: `${open.length} of ${rows.length} not sent yet${first.why === null ? "" : `: ${first.why}`}`,
      todo: waitsForAccount(first)
        ? "it goes out when the account works again: openclaw channels status --probe"
        : "it goes out as soon as the channel takes it: openclaw channels status",
    };
  const kept = at("suppressed");
  if (kept && rows.every(({ state }) => state === "suppressed"))
    return {
      level: "bad",
      text: `kept back by a plugin: ${kept.why ?? "no reason was given"}`,
      todo: "ask the plugin named here, or switch it off: openclaw plugins list",
    };
  return undefined;
}

function refused(row: InboxRow, facts: TurnFacts | undefined): Verdict {
  const record = recordOf(row);
  const atGate = facts === undefined && record?.access.why === row.why;
  const why = withPath(row.why ?? "no reason was given", atGate ? record?.access.path : undefined);
  const text = `no reply: ${why}`;
  if (!atGate) return { outcome: "refused", level: "bad", text };
  const pairing = /has not been approved/.test(why);
  const todo = pairing
    ? `let them in: openclaw pairing list ${row.channel}`
    : record?.access.path === undefined
      ? undefined
      : `change it if that is not meant: openclaw config get ${record.access.path}`;
  return { outcome: "refused", level: "bad", text, ...(todo === undefined ? {} : { todo }) };
}

const afterFailure = (facts: TurnFacts | undefined): string =>
  facts?.usage.at(-1)?.failed ? "see whether the model can be reached: openclaw models status" : "see openclaw logs around this time";

function failed(why: string | null, facts: TurnFacts | undefined, deliveries: readonly OutboxRow[]): Verdict {
  const isNotified = deliveries.some(({ payload, state }) => isRecord(payload) && payload["isError"] === true && state === "sent");
  const said = isNotified ? "; the sender was notified" : "";
  const { resumptions = 0 } = facts?.turn ?? {};
  if (why === EXAMINED_TOO_OFTEN) {
    return {
      outcome: "failed",
      level: "bad",
      text: `poison: given up, the process ended each time a plugin looked at it${said}`,
      todo: "find the plugin that ends the process: see openclaw logs around these times, then openclaw plugins disable <id>, and send it again",
    };
  }
  if (facts && /interrupted too often/.test(why ?? "")) {
    const text = `poison: given up after ${resumptions + 1} attempts, in each of which the process ended${said}`;
    return {
      outcome: "failed",
      level: "bad",
      text,
      todo: "what it asked for ends the process: see openclaw logs around these times, then send it again in other words",
    };
  }
  const todo = lastAttempt(facts)?.outcome === "budget" ? "see the budgets: openclaw models budgets" : afterFailure(facts);
  return { outcome: "failed", level: "bad", text: `failed: ${why ?? "no reason was given"}${said}`, todo };
}

function running(facts: TurnFacts | undefined, row: InboxRow | undefined, now: number): Verdict {
  const asks = facts?.approvals[0];
  if (asks) return { outcome: "running", level: "wait", text: `waits for an approval (${asks.id})`, todo: `decide: /approve ${asks.id} allow-once` };
  const since = facts?.turn.startedAt ?? row?.claimedAt ?? now;
  return {
    outcome: "running",
    level: "wait",
    text: `is being answered, for ${formatDuration(Math.max(0, now - since))}`,
    todo: "if no gateway runs, it goes on with the next start: openclaw status",
  };
}

export interface MessageFacts {
  readonly row: InboxRow;
  readonly facts: TurnFacts | undefined;
  readonly deliveries: readonly OutboxRow[];
  /** Messages of its session that came before it and have no end. */
  readonly inFront: number;
  readonly now: number;
}

/** How a message stands. */
export function messageVerdict({ row, facts, deliveries, inFront, now }: MessageFacts): Verdict {
  const { outcome, why } = row;
  if (row.state === "pending") {
    const text = inFront === 0 ? "waits: it is next" : `waits: ${inFront} in front of it`;
    return { outcome: "waiting", level: "wait", text, todo: "it is answered in its turn while the gateway runs: openclaw status" };
  }
  if (row.state === "claimed") return running(facts, row, now);
  if (outcome === "refused") return refused(row, facts);
  if (outcome === "failed") return failed(why, facts, deliveries);
  if (outcome === "cancelled") return { outcome, level: "ok", text: `stopped: ${why ?? "on request"}` };
  if (outcome === "silent")
    return { outcome, level: "ok", text: `no reply, on purpose: ${withPath(why ?? "the agent had nothing to say", notMentioned(row))}` };
  if (outcome === "merged")
    return {
      outcome,
      level: "ok",
      text: `answered with the turn that was running (${row.turnId ?? "?"})${facts?.turn.outcome ? `, which ended as ${facts.turn.outcome}` : ""}`,
    };
  return answered(row, facts, deliveries);
}

const notMentioned = (row: InboxRow): string | undefined => (recordOf(row)?.access.why === row.why ? recordOf(row)?.access.path : undefined);

function answered(row: InboxRow, facts: TurnFacts | undefined, deliveries: readonly OutboxRow[]): Verdict {
  const ends = [row.settledAt ?? row.receivedAt, ...deliveries.map(({ settledAt }) => settledAt ?? 0)];
  const took = formatDuration(Math.max(0, Math.max(...ends) - row.receivedAt));
  const by = facts || row.why === null ? "" : ` (${row.why})`;
  const left = undelivered(deliveries);
  if (left) return { outcome: "answered", ...left, text: `answered${by}, but ${left.text}` };
  return { outcome: "answered", level: "ok", text: `answered${by} after ${took}` };
}

/** How a turn stands that no message asked for. */
export function turnVerdict(facts: TurnFacts, deliveries: readonly OutboxRow[], now: number): Verdict {
  const { state, outcome, why, startedAt, endedAt } = facts.turn;
  if (state === "running") return running(facts, undefined, now);
  if (outcome === "failed") return failed(why, facts, deliveries);
  const left = outcome === "answered" ? undelivered(deliveries) : undefined;
  const text = `${outcome ?? "ended"} after ${formatDuration((endedAt ?? startedAt) - startedAt)}${why === null ? "" : `: ${why}`}`;
  return left ? { outcome: outcome ?? "answered", ...left, text: `${text}, but ${left.text}` } : { outcome: outcome ?? "silent", level: "ok", text };
}

/** How a delivery stands that belongs to no message. */
export function deliveryVerdict(rows: readonly [OutboxRow, ...OutboxRow[]]): Verdict {
  const [row] = rows;
  const left = undelivered(rows);
  const { kind = "message" } = payloadOf(row);
  return {
    outcome: "delivery",
    level: left?.level ?? "ok",
    text: `${kind} to ${row.channel} ${row.target}: ${stateText(rows.at(-1) ?? row)}`,
    ...(left?.todo === undefined ? {} : { todo: left.todo }),
  };
}
