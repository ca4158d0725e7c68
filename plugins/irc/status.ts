/** What is known about accounts, and what is wrong with them. */
import type { ChannelPlugin, ChannelStatusIssue } from "openclaw/plugin-sdk";
import { chosenNames, NAMES_ADVICE } from "./access.ts";
import type { IrcAccount } from "./account.ts";
import { fieldsOf, textOf } from "./fields.ts";
import { isChosenName } from "./inbound/sender.ts";
import { openSession, type SessionTimes } from "./connection/session.ts";
import { wordsOf } from "./failure.ts";
import type { Line } from "./live.ts";

export interface IrcProbe {
  readonly ok: boolean;
  readonly error: string | null;
  readonly elapsedMs: number;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly nick?: string;
}

const nothing = (): void => {};

/** Asks over the connection that stands; where there is none, makes one and ends it. A second one beside it would take our name away. */
export async function probe(account: IrcAccount, line: Line | undefined, times: SessionTimes, timeoutMs: number, ca?: string): Promise<IrcProbe> {
  const started = performance.now();
  const { host, port, tls } = account;
  const result = (ok: boolean, error: string | null, nick?: string): IrcProbe => ({
    ok,
    error,
    elapsedMs: Math.round(performance.now() - started),
    host,
    port,
    tls,
    ...(nick === undefined ? {} : { nick }),
  });
  if (account.problems.length > 0) return result(false, account.problems.join("; "));
  if (line) return result(true, null, line.session.nick);
  const limited: SessionTimes = { ...times, connectMs: Math.min(times.connectMs, timeoutMs), registerMs: Math.min(times.registerMs, timeoutMs) };
  const session = openSession({ account, ca, times: limited, log: { info: nothing, warn: nothing, error: nothing }, onMessage: nothing });
  try {
    await session.ready;
    return result(true, null, session.nick);
  } catch (error) {
    return result(false, wordsOf(error));
  } finally {
    await session.quit("Goodbye");
  }
}

type StatusAdapter = NonNullable<ChannelPlugin<IrcAccount, IrcProbe>["status"]>;
type Snapshot = Parameters<NonNullable<StatusAdapter["collectStatusIssues"]>>[0][number];

/** We ask every 30 s, and the server answers. */
const STALE_MS = 3 * 60_000;

function issuesOf(account: Snapshot): Omit<ChannelStatusIssue, "channel" | "accountId">[] {
  const found: Omit<ChannelStatusIssue, "channel" | "accountId">[] = [];
  const names = (account.allowFrom ?? []).filter(isChosenName);
  const isTrusted = fieldsOf(account.audit)?.["trustsNames"] === true;
  if (names.length > 0 && !isTrusted) {
    found.push({ kind: "config", message: `anybody can take a nick; these entries of allowFrom admit nobody: ${names.join(", ")}`, fix: NAMES_ADVICE });
  }
  const channels = fieldsOf(account.application)?.["channels"];
  for (const channel of Array.isArray(channels) ? channels : []) {
    const { name, joined, why } = fieldsOf(channel) ?? {};
    if (joined === false && account.connected === true)
      found.push({ kind: "permissions", message: `not in ${textOf(name) ?? "a channel"}: ${textOf(why) ?? "no reason given"}` });
  }
  if (textOf(account.lastError) && account.running === false) found.push({ kind: "runtime", message: `The account stopped: ${account.lastError}` });
  return found;
}

export function createStatus(probe: (account: IrcAccount, timeoutMs: number) => Promise<IrcProbe>): StatusAdapter {
  return {
    defaultRuntime: { accountId: "default", running: false, lastStartAt: null, lastStopAt: null, lastError: null },
    staleAfterMs: STALE_MS,
    probeAccount: ({ account, timeoutMs }) => probe(account, timeoutMs),
    buildChannelSummary: ({ account, snapshot }) => ({
      configured: snapshot.configured ?? false,
      host: account.host,
      port: account.port,
      tls: account.tls,
      nick: account.nick,
      running: snapshot.running ?? false,
      connected: snapshot.connected ?? false,
      lastStartAt: snapshot.lastStartAt ?? null,
      lastStopAt: snapshot.lastStopAt ?? null,
      lastError: snapshot.lastError ?? null,
      probe: snapshot.probe,
      lastProbeAt: snapshot.lastProbeAt ?? null,
    }),
    buildAccountSnapshot: ({ account, runtime, probe: probed }) => ({
      ...runtime,
      accountId: account.accountId,
      name: account.name,
      enabled: account.enabled,
      configured: account.problems.length === 0,
      credentialSource: account.passwordSource,
      baseUrl: `${account.tls ? "ircs" : "irc"}://${account.host}:${account.port}`,
      dmPolicy: account.dmPolicy,
      allowFrom: [...account.allowFrom],
      audit: { trustsNames: account.trustsNames, chosenNames: chosenNames(account) },
      running: runtime?.running ?? false,
      ...(probed === undefined ? {} : { probe: probed }),
    }),
    collectStatusIssues: (accounts) =>
      accounts.flatMap((account) => issuesOf(account).map((issue) => ({ channel: "irc", accountId: account.accountId, ...issue }))),
  };
}
