import { AppError } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import type { StoreNotice } from "../store.ts";
import type { Background } from "./background.ts";
import { runRead } from "../sqlite/connection.ts";
import { errorMessage, isDamage, storeError } from "../sqlite/failure.ts";
import type { Groups } from "./group.ts";
import type { ReadContext } from "../sqlite/handlers.ts";
import type { SessionIndex } from "../session-index/index.ts";
import type { CommitRequest, ReadRequest, Reply, Settled } from "../messages.ts";
import type { TranscriptFiles } from "./transcript-files.ts";

export interface RequestHandlerDeps extends ReadContext {
  readonly groups: Groups;
  readonly files: TranscriptFiles;
  readonly sessionIndex?: SessionIndex | undefined;
  readonly background: Background;
  readonly post: (reply: Reply) => void;
  readonly now: () => number;
  /** Records damage for the next start. */
  readonly markSuspect: (reason: string) => void;
}

/** Serves and answers requests, and holds the store's failure. */
export interface RequestHandler {
  readonly failure: AppError | undefined;
  /** Stops acknowledging. Reads are still answered. */
  readonly fail: (reason: AppError) => void;
  /** Checks the files of transcripts that are about to be used. */
  prepare(group: readonly CommitRequest[], asked: readonly ReadRequest[]): void;
  commit(group: readonly CommitRequest[]): void;
  answer(asked: readonly ReadRequest[]): void;
  settle(settled: readonly Settled[]): void;
  /** Runs work that no request waits for; if it fails, so does the store. */
  upkeep<T>(work: () => T): T | undefined;
  /** Reports which transcript files are behind, when that has changed. */
  reportProblems(): void;
}

export function createRequestHandler(deps: RequestHandlerDeps): RequestHandler {
  let failure: AppError | undefined;
  let diskFull = false;
  let held = false;
  let reportedCount = 0;

  function fail(reason: AppError): void {
    if (failure) return;
    failure = reason;
    if (isDamage(reason) || isDamage(reason.cause)) deps.markSuspect(reason.message);
    deps.post({ type: "failed", failure: { code: reason.code, message: reason.message, at: deps.now() } });
  }

  /** Runs `work` unless the store has failed, and fails the store when it throws. Another process's lock is no failure: the work is done later. */
  function attempt<T>(doing: string, work: () => T): T | undefined {
    if (failure) return undefined;
    try {
      return work();
    } catch (error) {
      const reason = storeError(doing, error);
      if (reason.code === "LOCKED") deps.post({ type: "log", message: reason.message, details: reason.details });
      else fail(reason);
      return undefined;
    }
  }

  const settle = (settled: readonly Settled[]): void => deps.post({ type: "settled", settled, diskFull, held });

  function read([id, kind, input]: ReadRequest): Settled {
    try {
      return [id, true, runRead(deps, kind, input)];
    } catch (error) {
      const reason = storeError(`could not read ${kind}`, error);
      if (isDamage(error)) fail(reason);
      return [id, false, errorMessage(reason)];
    }
  }

  return {
    get failure() {
      return failure;
    },
    fail,
    settle,
    prepare: (group, asked) => attempt("a transcript could not be compared with its file", () => deps.files.prepare(group, asked)),
    commit(group) {
      if (failure) {
        const refused = new AppError("STORE_FAILED", `the store has failed and accepts no more writes: ${failure.message}`, {
          details: { code: failure.code },
        });
        settle(group.map(([id]) => [id, false, errorMessage(refused)]));
        return;
      }
      const result = deps.groups.run(group);
      diskFull = result.diskFull;
      held = result.held;
      if (result.fatal) fail(result.fatal);
      settle(result.settled);
      failpoint("store.group.acknowledged");
      deps.files.follow(result.effects);
      deps.sessionIndex?.committed(group);
      attempt("the write-ahead log could not be moved into the database", () => deps.background.committed(group.length));
    },
    answer: (asked) => settle(asked.map(read)),
    upkeep: (work) => attempt("maintenance of the store failed", work),
    reportProblems() {
      const problems = [...deps.files.problems(), ...(deps.sessionIndex?.problems() ?? [])];
      if (problems.length === 0 && reportedCount === 0) return;
      reportedCount = problems.length;
      deps.post({
        type: "notices",
        notices: problems.map(({ file, problem, at }): StoreNotice => ({ kind: "projection", message: `${file}: ${problem}`, at, details: { file } })),
      });
    },
  };
}
