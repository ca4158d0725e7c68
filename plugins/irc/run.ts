/** An account from its start to its end: connections that follow each other. */
import type { ChannelGatewayContext } from "openclaw/plugin-sdk";
import { type AccountRun, createBackoff, hopeless, keepConnected, type Waiting } from "openclaw/plugin-sdk/channel-kit";
import type { IrcAccount } from "./account.ts";
import { createFences } from "./connection/fences.ts";
import { createIdentity } from "./connection/identity.ts";
import { createJoins } from "./connection/joins.ts";
import type { IrcMessage } from "./connection/library.ts";
import { openSession, type Session, type SessionTimes } from "./connection/session.ts";
import { createCtcpAnswers, createMessageIds, readMessage } from "./inbound/message.ts";
import { createPacing, type Line } from "./live.ts";

export interface RunDeps {
  readonly waiting: Waiting;
  readonly times: SessionTimes;
  readonly ca?: string | undefined;
  /** The connection that can be sent over, or none. */
  live(line: Line | undefined): void;
}

const LAST_MS = 60_000;

/** What outlives a connection. */
interface Memory {
  readonly ids: ReturnType<typeof createMessageIds>;
  registers(): boolean;
  session: Session | undefined;
}

/** Runs one connection. Resolves with what ended it. */
async function connectOnce(run: AccountRun, account: IrcAccount, deps: RunDeps, memory: Memory): Promise<Error> {
  const { log, intake, signal, waiting } = run;
  const listeners: ((message: IrcMessage) => void)[] = [];
  const session = openSession({
    account,
    log,
    times: deps.times,
    ca: deps.ca,
    onMessage(message) {
      run.alive();
      for (const listener of listeners) listener(message);
    },
  });
  memory.session = session;
  const isUs = (nick: string): boolean => session.isUs(nick);
  const now = (): number => waiting.now();
  const fences = createFences(session, waiting);
  const showChannels = (): void => run.setStatus({ application: { nick: session.nick, channels: joins.states() } });
  const joins = createJoins(account.channels, { session, waiting, log, changed: showChannels });
  const identity = createIdentity({ account, session, waiting, log, registers: memory.registers });
  const ctcp = createCtcpAnswers({ now, isUs });
  listeners.push(
    (message) => fences.saw(message),
    (message) => joins.saw(message),
    (message) => identity.saw(message),
    (message) => {
      const { nick, channelTypes, statusMarks } = session;
      const event = readMessage(message, { account, ids: memory.ids, now, isUs, nick, channelTypes, statusMarks });
      // In the order of the connection, whatever chat they belong to.
      if (event) void intake.add(event, account.accountId);
      const answer = ctcp.answer(message);
      if (answer !== undefined) session.write(answer).catch(() => {});
    },
  );
  const quit = (): void => void session.quit("Goodbye");
  if (signal.aborted) quit();
  else signal.addEventListener("abort", quit, { once: true });
  session.ready.then(
    () => {
      identity.begin();
      joins.begin();
      deps.live({ session, fences, joins, account, pacing: createPacing(account.flood, waiting), waiting });
      log.info(`connected to ${account.host} as ${session.nick}`);
      run.up({ bot: { nick: session.nick } });
    },
    () => {},
  );
  const error = await session.ended;
  signal.removeEventListener("abort", quit);
  deps.live(undefined);
  return error;
}

/** Runs the account; settles when it has stopped completely. Rejects with `permanent` where a restart would not help. */
export async function runAccount(ctx: ChannelGatewayContext<IrcAccount>, deps: RunDeps): Promise<void> {
  const { account, accountId } = ctx;
  if (account.problems.length > 0) throw hopeless(`IRC account "${accountId}" cannot be started: ${account.problems.join("; ")}`);
  let registered = false;
  const memory: Memory = { ids: createMessageIds(), registers: () => !registered && (registered = true), session: undefined };
  await keepConnected(ctx, {
    waiting: deps.waiting,
    backoff: createBackoff({ lastMs: LAST_MS }),
    flow: (isOpen) => memory.session?.flow(isOpen),
    status: { baseUrl: `${account.tls ? "ircs" : "irc"}://${account.host}:${account.port}` },
    connect: (run) => connectOnce(run, account, deps, memory),
  });
}
