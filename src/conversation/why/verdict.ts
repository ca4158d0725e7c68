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
      text: `not delivered: ${failed.why ?? "no reason given"}`,
      todo: `check the channel: openclaw channels status; then resend: openclaw message resend out:${failed.id}`,
    };
  const unknown = at("unknown");
  if (unknown)
    return { level: "wait", text: `it may not have arrived: ${unknown.why ?? "no response"}`, todo: "no action needed: the gateway follows up on its own" };
  const open = rows.filter(({ state }) => state === "pending" || state === "attempting");
  const [first] = open;
  if (first)
    return {
      level: "wait",
      text: `${open.length} of ${rows.length} not sent yet${first.why === null ? "" : `: ${first.why}`}`,
      todo: waitsForAccount(first)
        ? "it will be sent when the account is connected again; check: openclaw channels status --probe"
        : "it will be sent as soon as the channel accepts it; check: openclaw channels status",
    };
  const kept = at("suppressed");
  if (kept && rows.every(({ state }) => state === "suppressed"))
    return {
      level: "bad",
      text: `blocked by a plugin: ${kept.why ?? "no reason given"}`,
      todo: "check the plugin named here, or disable it: openclaw plugins list",
    };
  return undefined;
}

function refused(row: InboxRow, facts: TurnFacts | undefined): Verdict {
  const record = recordOf(row);
  const atGate = facts === undefined && record?.access.why === row.why;
  const why = withPath(row.why ?? "no reason given", atGate ? record?.access.path : undefined);
  const text = `no reply: ${why}`;
  if (!atGate) return { outcome: "refused", level: "bad", text };
  const pairing = /has not been approved/.test(why);
  const todo = pairing
    ? `approve the sender: openclaw pairing list ${row.channel}`
    : record?.access.path === undefined
      ? undefined
      : `if this is not intended, change the setting: openclaw config get ${record.access.path}`;
  return { outcome: "refused", level: "bad", text, ...(todo === undefined ? {} : { todo }) };
}

const afterFailure = (facts: TurnFacts | undefined): string =>
  facts?.usage.at(-1)?.failed ? "check whether the model is reachable: openclaw models status" : "check openclaw logs around this time";

function failed(why: string | null, facts: TurnFacts | undefined, deliveries: readonly OutboxRow[]): Verdict {
  const isNotified = deliveries.some(({ payload, state }) => isRecord(payload) && payload["isError"] === true && state === "sent");
  const said = isNotified ? "; the sender was notified" : "";
  const { resumptions = 0 } = facts?.turn ?? {};
  if (why === EXAMINED_TOO_OFTEN) {
    return {
      outcome: "failed",
      level: "bad",
      text: `poison: abandoned, the gateway process exited each time a plugin handled it${said}`,
      todo: "find the plugin that crashes the gateway: check openclaw logs around these times, run openclaw plugins disable <id>, then send the message again",
    };
  }
  if (facts && /interrupted too often/.test(why ?? "")) {
    const text = `poison: abandoned after ${resumptions + 1} attempts, the gateway process exited in each of them${said}`;
    return {
      outcome: "failed",
      level: "bad",
      text,
      todo: "the request crashes the gateway: check openclaw logs around these times, then rephrase the message and send it again",
    };
  }
  const todo = lastAttempt(facts)?.outcome === "budget" ? "check the budgets: openclaw models budgets" : afterFailure(facts);
  return { outcome: "failed", level: "bad", text: `failed: ${why ?? "no reason given"}${said}`, todo };
}

function running(facts: TurnFacts | undefined, row: InboxRow | undefined, now: number): Verdict {
  const asks = facts?.approvals[0];
  if (asks) return { outcome: "running", level: "wait", text: `waiting for approval (${asks.id})`, todo: `to approve: /approve ${asks.id} allow-once` };
  const since = facts?.turn.startedAt ?? row?.claimedAt ?? now;
  return {
    outcome: "running",
    level: "wait",
    text: `in progress for ${formatDuration(Math.max(0, now - since))}`,
    todo: "if no gateway is running, it resumes at the next start; check: openclaw status",
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
    const text = inFront === 0 ? "queued, next in line" : `queued, ${inFront} ahead`;
    return { outcome: "waiting", level: "wait", text, todo: "it will be answered in order while the gateway is running; check: openclaw status" };
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
      text: `merged into the running turn (${row.turnId ?? "?"})${facts?.turn.outcome ? `, which ended: ${facts.turn.outcome}` : ""}`,
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
