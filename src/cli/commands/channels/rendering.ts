/** How accounts look on a terminal. */
import { escapeLine } from "../../../base/printable.ts";
import { isRecord } from "../../../base/records.ts";
import { formatDuration } from "../../../base/text.ts";
import type { ChannelStatusIssue, MethodResult } from "../../../protocol/index.ts";
import type { Style } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";

export type Status = MethodResult<"channels.status">;
export type Account = Status["channelAccounts"][string][number];

export interface Look {
  readonly style: Style;
  readonly columns: number;
  readonly now: number;
}

const PAINT: ReadonlyMap<unknown, "green" | "yellow" | "red"> = new Map([
  ["ok", "green"],
  ["starting", "yellow"],
  ["degraded", "yellow"],
  ["down", "red"],
]);

/** What a gateway reports about an account. */
function healthOf({ health }: Account): { readonly state?: unknown; readonly why?: unknown } {
  return isRecord(health) ? health : {};
}

/** The state that a gateway reports, else the one in the configuration. */
export function stateText(account: Account, style: Style): string {
  const { state } = healthOf(account);
  const paint = PAINT.get(state);
  if (paint) return style[paint](String(state));
  if (account.enabled === false) return style.dim("disabled");
  if (account.configured === false) return style.yellow("not configured");
  return account.running === true ? style.green("running") : style.dim("not running");
}

/** What a platform answered, if it was asked. */
export function probeText(probe: unknown, style: Style): string | undefined {
  if (!isRecord(probe)) return undefined;
  const { ok, error } = probe;
  if (ok === true) return style.green("answers");
  return style.red(`probe failed${typeof error === "string" && error !== "" ? `: ${escapeLine(error)}` : ""}`);
}

const ago = (at: number | null | undefined, word: string, now: number): string | undefined =>
  typeof at === "number" && at > 0 ? `${word} ${formatDuration(Math.max(0, now - at))} ago` : undefined;

type Direction = NonNullable<Account["receiving"]>;

/** Receiving or sending, where it is not simply well: `receiving: conflict`. */
function directionText(name: "receiving" | "sending", account: Account, style: Style): string | undefined {
  const { receiving, sending } = account;
  const own = account[name];
  const isWell = (direction: Direction | undefined): boolean => direction === undefined || direction.state === "ok" || direction.state === "starting";
  if (!own || account.stoppedByHand === true || (isWell(receiving) && isWell(sending))) return undefined;
  const paint = own.state === "ok" ? style.green : own.state === "conflict" || own.state === "error" ? style.red : style.yellow;
  return `${name}: ${paint(escapeLine(own.state))}`;
}

/** What is wrong with receiving or sending, and what to do, in lines below the table. */
function directionLines(channel: string, account: Account, style: Style): readonly string[] {
  return (["receiving", "sending"] as const).flatMap((name) => {
    const { state, text, fix } = account[name] ?? {};
    if ((state !== "conflict" && state !== "error") || text === undefined) return [];
    const advice = fix === undefined ? "" : `\n  ${style.dim(escapeLine(fix))}`;
    return [`${style.yellow("!")} ${escapeLine(`${channel} ${account.accountId}: ${name}: ${text}`)}${advice}\n`];
  });
}

/** Everything else worth a word, in one line. */
export function detailText(account: Account, { style, now }: Pick<Look, "style" | "now">): string {
  const { why: cause } = healthOf(account);
  const why = typeof cause === "string" ? cause : undefined;
  const error = typeof account.lastError === "string" && account.lastError !== "" && why?.includes(account.lastError) !== true ? account.lastError : undefined;
  const parts = [
    directionText("receiving", account, style),
    directionText("sending", account, style),
    why === undefined || why === "" ? undefined : escapeLine(why),
    probeText(account.probe, style),
    account.mode === undefined ? undefined : escapeLine(account.mode),
    account.dmPolicy === undefined ? undefined : `dm ${escapeLine(account.dmPolicy)}`,
    ago(account.lastInboundAt, "in", now),
    ago(account.lastOutboundAt, "out", now),
    error === undefined ? undefined : style.red(escapeLine(error)),
  ];
  return parts.filter((part) => part !== undefined).join(", ");
}

function nameOf({ accountId, name }: Account): string {
  return escapeLine(name === undefined || name === accountId ? accountId : `${accountId} (${name})`);
}

/** A row for each account; the channel's name stands before its first. */
export function statusTable(status: Status, look: Look): string {
  const rows = status.channelOrder.flatMap((id) => {
    const accounts = status.channelAccounts[id] ?? [];
    return accounts.map((account, index) => [
      index === 0 ? escapeLine(status.channelLabels[id] ?? id) : "",
      nameOf(account),
      stateText(account, look.style),
      detailText(account, look),
    ]);
  });
  return rows.length === 0 ? "" : formatTable(["Channel", "Account", "State", ""], rows, { style: look.style, columns: look.columns });
}

/** What is wrong and what helps, as channels themselves say. */
export function issueLines(status: Status, style: Style): readonly string[] {
  return status.channelOrder.flatMap((id) =>
    (status.channelAccounts[id] ?? []).flatMap((account) => {
      const issues = (account["issues"] ?? []) as readonly ChannelStatusIssue[];
      const own = issues.map(({ kind, message, fix }) => {
        const advice = fix === undefined ? "" : `\n  ${style.dim(escapeLine(fix))}`;
        return `${style.yellow("!")} ${escapeLine(`${status.channelLabels[id] ?? id} ${account.accountId}: ${message}`)} ${style.dim(`(${escapeLine(kind)})`)}${advice}\n`;
      });
      return [...directionLines(status.channelLabels[id] ?? id, account, style), ...own];
    }),
  );
}
