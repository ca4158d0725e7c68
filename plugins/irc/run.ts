/** An account from its start to its end: connections that follow each other. */
import type { ChannelGatewayContext } from "openclaw/plugin-sdk";
import type { IrcAccount } from "./account.ts";
import { createFences } from "./connection/fences.ts";
import { createIdentity } from "./connection/identity.ts";
import { createJoins, type Joins } from "./connection/joins.ts";
import type { IrcMessage } from "./connection/library.ts";
import { openSession, type Session, type SessionTimes } from "./connection/session.ts";
import { hopeless, type IrcError } from "./failure.ts";
import { createIntake, type Intake } from "./inbound/intake.ts";
import { createCtcpAnswers, createMessageIds, readMessage } from "./inbound/message.ts";
import { createPacing, type Line } from "./live.ts";
import { reconnectDelay, type Waiting } from "./waiting.ts";
import type { Log } from "./types.ts";

export interface RunDeps {
  readonly waiting: Waiting;
  readonly times: SessionTimes;
  readonly ca?: string | undefined;
  /** The connection that can be sent over, or none. */
  live(line: Line | undefined): void;
}

type Context = ChannelGatewayContext<IrcAccount>;

/** A connection that lasts this long was a good one: the count of attempts starts over. */
const GOOD_MS = 30_000;
/** `lastEventAt` moves in steps of this. */
const EVENT_STEP_MS = 5_000;

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };

interface Run {
  readonly ctx: Context;
  readonly deps: RunDeps;
  readonly log: Log;
  readonly intake: Intake;
  readonly ids: ReturnType<typeof createMessageIds>;
  registers(): boolean;
  session: Session | undefined;
}

/** Reports that something was received, at most once per step. */
function hearing({ ctx, deps }: Run): () => void {
  let reportedAt = 0;
  return () => {
    const now = deps.waiting.now();
    if (now - reportedAt < EVENT_STEP_MS) return;
    reportedAt = now;
    ctx.setStatus({ accountId: ctx.accountId, lastEventAt: now });
  };
}

function showChannels({ ctx }: Run, session: Session, joins: Joins): void {
  ctx.setStatus({ accountId: ctx.accountId, application: { nick: session.nick, channels: joins.states() } });
}

/** Runs one connection. Resolves with what ended it. */
async function connectOnce(run: Run): Promise<{ readonly error: IrcError; readonly upMs: number }> {
  const { ctx, deps, log, intake, ids } = run;
  const { account, accountId, abortSignal } = ctx;
  const { waiting } = deps;
  const hear = hearing(run);
  let upAt: number | undefined;
  const listeners: ((message: IrcMessage) => void)[] = [];
  const session = openSession({
    account,
    log,
    times: deps.times,
    ca: deps.ca,
    onMessage(message) {
      hear();
      for (const listener of listeners) listener(message);
    },
  });
  run.session = session;
  const fences = createFences(session, waiting);
  const joins = createJoins(account.channels, { session, waiting, log, changed: () => showChannels(run, session, joins) });
  const identity = createIdentity({ account, session, waiting, log, registers: run.registers });
  const ctcp = createCtcpAnswers({ now: () => waiting.now(), isUs: (nick) => session.isUs(nick) });
  const facts = {
    account,
    ids,
    now: () => waiting.now(),
    isUs: (nick: string) => session.isUs(nick),
    get nick() {
      return session.nick;
    },
    get channelTypes() {
      return session.channelTypes;
    },
    get statusMarks() {
      return session.statusMarks;
    },
  };
  listeners.push(
    (message) => fences.saw(message),
    (message) => joins.saw(message),
    (message) => identity.saw(message),
    (message) => {
      const event = readMessage(message, facts);
      if (event) intake.add(event);
      const answer = ctcp.answer(message);
      if (answer !== undefined) session.write(answer).catch(() => {});
    },
  );
  const quit = (): void => void session.quit("Goodbye");
  if (abortSignal.aborted) quit();
  else abortSignal.addEventListener("abort", quit, { once: true });
  session.ready.then(
    () => {
      upAt = waiting.now();
      identity.begin();
      joins.begin();
      deps.live({ session, fences, joins, account, pacing: createPacing(account.flood, waiting), waiting });
      log.info(`connected to ${account.host} as ${session.nick}`);
      ctx.setStatus({
        accountId,
        connected: true,
        reconnectAttempts: 0,
        lastConnectedAt: upAt,
        lastEventAt: upAt,
        lastError: null,
        bot: { nick: session.nick },
      });
    },
    () => {},
  );
  const error = await session.ended;
  abortSignal.removeEventListener("abort", quit);
  deps.live(undefined);
  return { error, upMs: upAt === undefined ? 0 : waiting.now() - upAt };
}

/** Connects again and again, each time in a row a little later. */
async function keepConnected(run: Run): Promise<void> {
  const { ctx, deps, log } = run;
  const { accountId, abortSignal: signal } = ctx;
  for (let attempt = 0; !signal.aborted;) {
    const { error, upMs } = await connectOnce(run);
    if (signal.aborted) return;
    ctx.setStatus({ accountId, connected: false, lastError: error.message, lastDisconnect: { at: deps.waiting.now(), error: error.message } });
    if (error.permanent) throw error;
    attempt = upMs >= GOOD_MS ? 1 : attempt + 1;
    const ms = reconnectDelay(attempt, deps.waiting.random());
    ctx.setStatus({ accountId, reconnectAttempts: attempt });
    log.warn(`${error.message}; the next attempt is in ${ms} ms`);
    await deps.waiting.sleep(ms, signal);
  }
}

/** Runs the account; settles when it has stopped completely. Rejects with `permanent` where a restart would not help. */
export async function runAccount(ctx: Context, deps: RunDeps): Promise<void> {
  const { account, accountId, inbound, abortSignal } = ctx;
  const log = ctx.log ?? silent;
  if (account.problems.length > 0) throw hopeless(`IRC account "${accountId}" cannot be started: ${account.problems.join("; ")}`);
  if (!inbound) throw hopeless("this version of the host takes no messages from channels; update it");
  const { waiting } = deps;
  let registered = false;
  let session: Session | undefined;
  const intake = createIntake({
    inbound,
    waiting,
    log,
    signal: abortSignal,
    flow: (isOn) => session?.flow(isOn),
    taken: () => ctx.setStatus({ accountId, lastInboundAt: waiting.now(), lastMessageAt: waiting.now() }),
  });
  const run: Run = {
    ctx,
    deps,
    log,
    intake,
    ids: createMessageIds(),
    registers: () => !registered && (registered = true),
    get session() {
      return session;
    },
    set session(next) {
      session = next;
    },
  };
  ctx.setStatus({
    accountId,
    running: true,
    connected: false,
    lastStartAt: waiting.now(),
    lastError: null,
    baseUrl: `${account.tls ? "ircs" : "irc"}://${account.host}:${account.port}`,
  });
  try {
    await keepConnected(run);
  } finally {
    await intake.idle();
    ctx.setStatus({ accountId, running: false, connected: false, lastStopAt: waiting.now() });
  }
}
