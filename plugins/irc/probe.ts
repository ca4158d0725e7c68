/** Whether the server can be reached and takes us. */
import type { IrcAccount } from "./account.ts";
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
