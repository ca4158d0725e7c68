import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Config } from "../../config/index.ts";
import { sendPolicy } from "../../sessions/index.ts";
import type { ApprovalRow, CommandOutcome, Store } from "../../store/index.ts";
import { outcomeText, type AskedCommand } from "../../tools/index.ts";
import type { Conversation } from "../create-conversation.ts";
import type { RunRequest } from "../contract.ts";
import type { Origin } from "./pending-commands.ts";

export interface FollowUpDeps {
  readonly config: Pick<Config, "current">;
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly conversation: () => Pick<Conversation, "accept">;
}

const ENDED = "A command that waited for approval has ended; the system line above has its result. Continue with the task and report the outcome.";
const REFUSED =
  "A command that waited for approval did not run; the system line above says why. Do not try to do the same in another way. Report what could not be done, and continue with the rest.";
const RETRY_MS = 1000;

/** The turn in which a session goes on. Its id is the command's: it is accepted once, however often it is asked for. */
function requestFor({ id, sessionKey, origin }: AskedCommand, text: string, refused: boolean, at: number): RunRequest {
  const { channel = "webchat", accountId, senderId, owner, reply } = origin as Origin;
  return {
    runId: `exec-${id}`,
    kind: "exec",
    sessionKey,
    message: refused ? REFUSED : ENDED,
    events: [{ text, at }],
    channel,
    ...(owner === undefined ? {} : { owner }),
    ...(accountId === undefined ? {} : { accountId }),
    ...(senderId === undefined ? {} : { senderId }),
    ...(reply ? { reply, direct: reply.chatType === "direct" } : {}),
  };
}

/** Has sessions go on once a command that waited for approval has its end. */
export interface FollowUps {
  goOn(asked: AskedCommand, outcome: CommandOutcome): Promise<void>;
  /** Tells of commands that a process before this one left behind. */
  takeUp(rows: readonly ApprovalRow[], now: number): Promise<void>;
}

export function createFollowUps(deps: FollowUpDeps): FollowUps {
  const { store, clock, log, config } = deps;

  /** False when the session cannot go on: it was reset, is gone, or may not answer. */
  async function isThere({ sessionKey, origin }: AskedCommand): Promise<boolean> {
    const entry = (await store.read("sessions.get", { key: sessionKey }))?.entry;
    const { sessionId, channel } = origin as Origin;
    if (!entry || (sessionId !== undefined && entry.sessionId !== sessionId)) return false;
    return sendPolicy(config.current, sessionKey, entry, channel).allowed;
  }

  /** Too much may wait at the moment: then it is tried again. */
  async function accept(request: RunRequest): Promise<void> {
    for (;;) {
      try {
        await deps.conversation().accept(request);
        return;
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== "OVERLOADED") throw error;
        const { promise, resolve } = Promise.withResolvers<void>();
        clock.after(RETRY_MS, resolve);
        await promise;
      }
    }
  }

  async function goOn(asked: AskedCommand, outcome: CommandOutcome): Promise<void> {
    const text = outcomeText(asked, outcome);
    if (text === undefined) return;
    if (await isThere(asked)) await accept(requestFor(asked, text, outcome.state === "denied", outcome.endedAt ?? clock.now()));
    await store.write("approvals.outcome", { id: asked.id, sessionKey: asked.sessionKey, outcome: { ...outcome, reported: true } });
  }

  /** What a previous process left: the caller is gone, so nothing of it runs any more. */
  async function takeUpOne({ id, sessionKey, request, state, expiresAt, outcome }: ApprovalRow, now: number): Promise<void> {
    const { plan, origin } = request as { readonly plan?: { readonly command: string }; readonly origin?: AskedCommand["origin"] };
    if (sessionKey === null || plan === undefined || origin === undefined) return;
    const found: CommandOutcome = !outcome
      ? { state: "denied", why: state === "expired" || expiresAt <= now ? "approval-timeout" : "gateway-restarted" }
      : outcome.state === "running"
        ? { ...outcome, state: "lost" }
        : outcome;
    const dated = found.endedAt === undefined ? { ...found, endedAt: now } : found;
    await store.write("approvals.outcome", { id, sessionKey, outcome: dated });
    await goOn({ id, sessionKey, command: plan.command, origin }, dated);
  }

  return {
    goOn,
    async takeUp(rows, now) {
      for (const row of rows) {
        await takeUpOne(row, now).catch((error: unknown) => log.warn(`a session could not be notified about a command: ${messageOf(error)}`, { id: row.id }));
      }
    },
  };
}
