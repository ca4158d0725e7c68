/** What is known about accounts, and what is wrong with them. */
import type { ChannelPlugin, ChannelStatusIssue } from "openclaw/plugin-sdk";
import { chosenNames, NAMES_ADVICE } from "./access.ts";
import type { IrcAccount } from "./account.ts";
import { fieldsOf, textOf } from "./fields.ts";
import { isChosenName } from "./inbound/sender.ts";
import type { IrcProbe } from "./probe.ts";

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
