/**
 * Reports ended children, each once. A result goes straight to the chat that asked for it, or becomes a run in the session that started the child; the
 * commit that puts it on its way also records that it was announced. Until then it stays in the store, whatever ends in between.
 */
import { AppError, messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { isRecord } from "../../base/records.ts";
import type { ReplyAddress, RunRequest } from "../../conversation/index.ts";
import { KEPT, sendPolicy, SYSTEM_EVENTS } from "../../sessions/index.ts";
import type { Write } from "../../store/index.ts";
import { childOf, isActive, requestFor, type Child, type SubagentsDeps } from "./child.ts";
import { announcement, chatText, eventText, isSilent, resultOf } from "./result.ts";

export interface Announcer {
  /** A child has ended, or may be ready now: it is announced when nothing below it is open any more. */
  ready(child: Child): void;
  /** Someone waits for these children: they are not announced meanwhile. */
  hold(runIds: readonly string[]): Disposable;
  /** Resolves when a report that is on its way to a session has come to it, or was refused. */
  arrived(sessionKey: string): Promise<unknown>;
  /** No report goes to these sessions until it is disposed: what is left to be reported then goes on. */
  pause(sessionKeys: readonly string[]): Disposable;
  close(): void;
}

const COLLECT_MS = 1000;
const LOOK_AGAIN_MS = 50;
const RETRY_MS = 1000;

export const announceId = ({ childSessionKey, runId }: Pick<Child, "childSessionKey" | "runId">): string => `announce:v1:${childSessionKey}:${runId}`;

/** Children of this one that have not ended, or whose results it has not got. */
async function hasOpenChildren({ store }: SubagentsDeps, { childSessionKey }: Child): Promise<boolean> {
  const below = (await store.read("subagents.list", { requesterSessionKey: childSessionKey })).map(childOf);
  return below.some((child) => isActive(child) || (!child.announced && child.outcome !== "killed"));
}

/** The chat that a result is sent to; undefined when it goes to a session. */
async function targetOf(deps: SubagentsDeps, child: Child): Promise<ReplyAddress | undefined> {
  const { reply, channel, accountId } = child.data.requesterOrigin;
  const hooks = deps.hooks();
  if (!hooks?.has("subagent_delivery_target")) return reply;
  const { runId, childSessionKey, requesterSessionKey } = child;
  const to = reply === undefined ? {} : { to: reply.to, ...(reply.threadId === undefined ? {} : { threadId: reply.threadId }) };
  const requesterOrigin = { ...(channel === undefined ? {} : { channel }), ...(accountId === undefined ? {} : { accountId }), ...to };
  const event = { childSessionKey, requesterSessionKey, requesterOrigin, childRunId: runId, spawnMode: "run", expectsCompletionMessage: true } as const;
  const chosen = (await hooks.run("subagent_delivery_target", event, { runId, childSessionKey, requesterSessionKey }))?.origin;
  if (chosen?.channel === undefined || chosen.to === undefined) return reply;
  const thread = chosen.threadId === undefined ? {} : { threadId: chosen.threadId };
  return { channel: chosen.channel, accountId: chosen.accountId ?? "default", to: chosen.to, chatType: reply?.chatType ?? "direct", ...thread };
}

/** Sends a result to a chat, and has the session know of it in its next turn. */
async function send(deps: SubagentsDeps, child: Child, address: ReplyAddress): Promise<void> {
  const { store } = deps;
  const { requesterSessionKey: sessionKey, runId } = child;
  const [findings, silent] = [await resultOf(deps, child), await isSilent(store, child)];
  const entry = (await store.read("sessions.get", { key: sessionKey }))?.entry;
  const event: Write = [
    "injections.add",
    {
      id: deps.ids.uuid(),
      sessionKey,
      pluginId: SYSTEM_EVENTS,
      placement: "system-event",
      text: eventText(child, silent ? undefined : findings),
      payload: KEPT,
      idempotencyKey: announceId(child),
    },
  ];
  const maySend = !silent && sendPolicy(deps.config.current, sessionKey, entry, address.channel).allowed;
  const facts = { kind: "send", sessionKey, agentId: sessionKey.split(":")[1] ?? "main", idempotencyKey: announceId(child) } as const;
  const { writes } = maySend ? await deps.delivery().prepare(address, [{ text: chatText(child, findings) }], facts) : { writes: [] };
  await store.commit([["subagents.announced", { runIds: [runId] }], event, ...writes]);
  failpoint("subagent.announced");
  if (writes.length > 0) deps.delivery().kick();
}

/** The run in which a session reads what its children found. */
async function requestOf(deps: SubagentsDeps, children: readonly [Child, ...Child[]]): Promise<RunRequest> {
  const [first] = children;
  const { requesterSessionKey } = first;
  const [parent] = (await deps.store.read("subagents.list", { childSessionKey: requesterSessionKey })).map(childOf);
  const message = await announcement(deps, children, parent !== undefined);
  if (parent) return requestFor(parent, announceId(first), message, "announce");
  const { channel = "webchat", accountId, senderId, owner } = first.data.requesterOrigin;
  return {
    runId: announceId(first),
    kind: "announce",
    sessionKey: requesterSessionKey,
    message,
    channel,
    ...(owner === undefined ? {} : { owner }),
    ...(accountId === undefined ? {} : { accountId }),
    ...(senderId === undefined ? {} : { senderId }),
  };
}

async function pause({ clock }: SubagentsDeps, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  using _timer = clock.after(ms, resolve);
  const over = (): void => resolve();
  signal.addEventListener("abort", over, { once: true });
  if (!signal.aborted) await promise;
  signal.removeEventListener("abort", over);
}

/** Resolves when nothing runs or waits in a session. */
async function idle(deps: SubagentsDeps, sessionKey: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && deps.conversation().isBusy(sessionKey)) {
    await deps.conversation().exclusively(sessionKey, async () => {});
    if (deps.conversation().isBusy(sessionKey)) await pause(deps, LOOK_AGAIN_MS, signal);
  }
}

const DAY_MS = 24 * 60 * 60_000;
const MOST_PAUSE_MS = 2000;

/** Whether a command of a session waits for approval, or runs after one: the session goes on when it has ended. */
async function hasCommands({ store, clock }: SubagentsDeps, sessionKey: string): Promise<boolean> {
  const now = clock.now();
  const rows = await store.read("approvals.unreported", { kind: "exec", sessionKey, since: now - DAY_MS, before: now + 1 });
  return rows.some(({ request }) => isRecord(request) && request["plan"] !== undefined);
}

/** Whether nothing is left that a child may go on with. */
export async function isAtRest(deps: SubagentsDeps, child: Child): Promise<boolean> {
  if ((await hasOpenChildren(deps, child)) || (await hasCommands(deps, child.childSessionKey))) return false;
  return !deps.conversation().isBusy(child.childSessionKey);
}

/** Resolves when nothing runs or waits in a session, and no command is left after which it goes on. */
export async function settled(deps: SubagentsDeps, sessionKey: string, signal: AbortSignal): Promise<void> {
  for (let ms = LOOK_AGAIN_MS; !signal.aborted; ms = Math.min(MOST_PAUSE_MS, 2 * ms)) {
    await idle(deps, sessionKey, signal);
    if (!(await hasCommands(deps, sessionKey)) && !deps.conversation().isBusy(sessionKey)) return;
    await pause(deps, ms, signal);
  }
}

/** Names that are held, each as often as it was taken. `released` is called with those that nobody holds any more. */
function createHolds(released: (name: string) => void = () => {}): { hold(names: readonly string[]): Disposable; has(name: string): boolean } {
  const held = new Map<string, number>();
  return {
    has: (name) => held.has(name),
    hold(names) {
      for (const name of names) held.set(name, (held.get(name) ?? 0) + 1);
      return {
        [Symbol.dispose]() {
          for (const name of names) {
            const count = (held.get(name) ?? 1) - 1;
            held.set(name, count);
            if (count > 0) continue;
            held.delete(name);
            released(name);
          }
        },
      };
    },
  };
}

/** Children at rest whose results go to their session. The longest chain of reports comes first: it counts for what this one starts. */
async function reportable(
  deps: SubagentsDeps,
  children: readonly Child[],
  targetFor: (child: Child) => ReturnType<typeof targetOf>,
): Promise<readonly Child[]> {
  const found: Child[] = [];
  for (const child of children) if ((await isAtRest(deps, child)) && !(await targetFor(child))) found.push(child);
  return found.toSorted((a, b) => b.data.chain.generation - a.data.chain.generation);
}

/** Reports that are being accepted, by session. */
function createArrivals(): Pick<Announcer, "arrived"> & { follow(sessionKey: string, accepted: Promise<unknown>): void } {
  const arriving = new Map<string, Promise<unknown>>();
  return {
    arrived: async (sessionKey) => arriving.get(sessionKey),
    follow(sessionKey, accepted) {
      const ended = accepted.catch(() => {}).finally(() => arriving.delete(sessionKey));
      arriving.set(sessionKey, ended);
    },
  };
}

type About = { readonly runId: string } | { readonly sessionKey: string };

/** Says in the log what could not be announced. */
function reporting({ log }: SubagentsDeps, closing: AbortSignal): (announcing: Promise<void>, about: About) => void {
  return (announcing, about) => {
    announcing.catch((error: unknown) => {
      // It was announced by another way in between.
      const isKnown = error instanceof AppError && error.code === "CONFLICT";
      if (!isKnown && !closing.aborted) log.error(`the result of a sub-agent could not be announced: ${messageOf(error)}`, { ...about, error });
    });
  };
}

/** `delivered` is called with children that were announced. */
export function createAnnouncer(deps: SubagentsDeps, delivered: (children: readonly Child[]) => void): Announcer {
  const { store } = deps;
  const closing = new AbortController();
  const report = reporting(deps, closing.signal);
  /** Children that someone waits for. */
  const held = createHolds();
  /** Sessions that are being stopped, and those of them that there is something to report to. */
  const paused = createHolds((sessionKey) => void (delayed.delete(sessionKey) && report(queueFlush(sessionKey), { sessionKey })));
  const delayed = new Set<string>();
  const flushing = new Map<string, { again: boolean }>();
  /** Where results go, asked once for each. */
  const targets = new Map<string, ReturnType<typeof targetOf>>();
  const arrivals = createArrivals();

  const isOpen = ({ state, announced, outcome, runId }: Child): boolean => state === "ended" && !announced && outcome !== "killed" && !held.has(runId);

  function targetFor(child: Child): ReturnType<typeof targetOf> {
    const target = targets.get(child.runId) ?? targetOf(deps, child);
    targets.set(child.runId, target);
    return target;
  }

  /** Hands children to the session that started them, in one run. */
  async function reportToSession(children: readonly [Child, ...Child[]]): Promise<void> {
    const [{ requesterSessionKey }] = children;
    const request = await requestOf(deps, children);
    if (paused.has(requesterSessionKey)) return void delayed.add(requesterSessionKey);
    const accepted = deps.conversation().accept(request, [["subagents.announced", { runIds: children.map(({ runId }) => runId) }]]);
    arrivals.follow(requesterSessionKey, accepted);
    await accepted;
    failpoint("subagent.announced");
    for (const { runId } of children) targets.delete(runId);
    delivered(children);
    if (!requesterSessionKey.includes(":subagent:")) return;
    // The session is a child itself: it is ready when it has dealt with this.
    await deps.conversation().outcome(request.runId);
    for (const row of await store.read("subagents.list", { childSessionKey: requesterSessionKey })) ready(childOf(row));
  }

  /** Announces what a session waits for. Several that end together are one run, and one that is busy is not interrupted. */
  async function flush(sessionKey: string): Promise<void> {
    const all = async (): Promise<readonly Child[]> => (await store.read("subagents.list", { requesterSessionKey: sessionKey })).map(childOf);
    if ((await all()).some(isActive) || deps.conversation().isBusy(sessionKey)) await pause(deps, COLLECT_MS, closing.signal);
    await idle(deps, sessionKey, closing.signal);
    const [first, ...others] = await reportable(deps, (await all()).filter(isOpen), targetFor);
    if (first && !closing.signal.aborted) await reportToSession([first, ...others]);
  }

  /** One flush of a session at a time; what comes meanwhile is in the next one. */
  async function queueFlush(sessionKey: string): Promise<void> {
    const known = flushing.get(sessionKey);
    if (known) {
      known.again = true;
      return;
    }
    const state = { again: true };
    flushing.set(sessionKey, state);
    try {
      while (state.again && !closing.signal.aborted) {
        state.again = false;
        await flush(sessionKey).catch(async (error: unknown) => {
          // Too much waits there at the moment, or one of several was stopped in between: the others are still to be reported.
          if (!(error instanceof AppError) || (error.code !== "OVERLOADED" && error.code !== "CONFLICT")) throw error;
          await pause(deps, RETRY_MS, closing.signal);
          state.again = true;
        });
      }
    } finally {
      flushing.delete(sessionKey);
    }
  }

  async function announce(child: Child): Promise<void> {
    if (!isOpen(child) || (await hasOpenChildren(deps, child))) return;
    await settled(deps, child.childSessionKey, closing.signal);
    // Turns that ended while this waited may have started others.
    if (closing.signal.aborted || !isOpen(child) || (await hasOpenChildren(deps, child))) return;
    const address = await targetFor(child);
    if (address) {
      await send(deps, child, address);
      targets.delete(child.runId);
      delivered([child]);
    } else await queueFlush(child.requesterSessionKey);
  }

  const ready = (child: Child): void => report(announce(child), { runId: child.runId });

  return {
    ready,
    hold: held.hold,
    arrived: arrivals.arrived,
    pause: paused.hold,
    close: () => closing.abort(),
  };
}
