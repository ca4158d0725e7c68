import type { DatabaseSync } from "node:sqlite";
import { AppError } from "../../base/errors.ts";
import type { Background } from "./background.ts";
import type { RequestHandler } from "./request-handler.ts";
import { errorMessage, storeError } from "../sqlite/failure.ts";
import type { CommitRequest, ControlRequest, ReadRequest, Request } from "../messages.ts";
import type { SessionIndex } from "../session-index/index.ts";
import type { TranscriptFiles } from "./transcript-files.ts";

/** Commits per transaction: more would make the first of them wait for the last. */
const MAX_GROUP = 512;
/** Under load background work still runs this often. */
const BACKGROUND_EVERY_MS = 20;

export interface WriterDeps {
  readonly db: DatabaseSync;
  readonly handler: RequestHandler;
  /** Takes the next message that waits at the port. */
  readonly receive: () => Request | undefined;
  readonly files: TranscriptFiles;
  readonly sessionIndex: SessionIndex | undefined;
  readonly background: Background;
  /**
   * One more connection that reads. While it is open, closing the writer does not move the log: after a failed fsync nothing is synced again,
   * and the log stays as it is for the next start.
   */
  readonly witness: () => Disposable;
  /** Called last: the connection is closed and the caller has its answer. */
  readonly closed: () => void;
}

/** The writer's loop: takes pending requests, commits them as a group, answers, and only then touches files and does other work. */
export interface Writer {
  /** Takes one message and works until none is pending. */
  accept(request: Request): void;
}

export function createWriter(deps: WriterDeps): Writer {
  const { handler, background, files } = deps;
  const commits: CommitRequest[] = [];
  const reads: ReadRequest[] = [];
  const controls: ControlRequest[] = [];
  let lastBackground = performance.now();
  let idle: NodeJS.Immediate | undefined;

  function close(): AppError | undefined {
    handler.upkeep(files.completeAll);
    files.close();
    handler.upkeep(() => deps.sessionIndex?.close());
    handler.reportProblems();
    try {
      using _witness = handler.failure ? deps.witness() : undefined;
      deps.db.close();
      return undefined;
    } catch (error) {
      return storeError("could not close the database", error);
    }
  }

  function control(request: ControlRequest): void {
    const reply = (error: AppError | undefined, value?: unknown): void =>
      handler.settle([error ? [request.id, false, errorMessage(error)] : [request.id, true, value]]);
    if (request.type === "close") {
      reply(close());
      deps.closed();
    } else if (request.type === "imported") background.whenImported(() => reply(undefined));
    else if (handler.failure) reply(new AppError("STORE_FAILED", `the store has failed: ${handler.failure.message}`));
    else if (request.type === "checkpoint") background.checkpoint(request.truncate, reply);
    else background.maintain(request, reply);
  }

  function backgroundStep(): boolean {
    lastBackground = performance.now();
    return handler.upkeep(background.step) ?? false;
  }

  function whenIdle(): void {
    idle = undefined;
    pump();
    if (backgroundStep()) idle ??= setImmediate(whenIdle);
  }

  function add(request: Request): void {
    if (request.type === "batch") {
      commits.push(...request.commits);
      reads.push(...request.reads);
    } else controls.push(request);
  }

  /** Takes every message that waits at the port; true when there is something to do. */
  function pull(): boolean {
    for (let request = deps.receive(); request; request = deps.receive()) add(request);
    return commits.length + reads.length + controls.length > 0;
  }

  function pump(): void {
    while (pull()) {
      const group = commits.splice(0, MAX_GROUP);
      const asked = reads.splice(0);
      handler.prepare(group, asked);
      if (group.length > 0) handler.commit(group);
      if (asked.length > 0) handler.answer(asked);
      if (commits.length === 0) for (const request of controls.splice(0)) control(request);
      files.flush();
      if (performance.now() - lastBackground > BACKGROUND_EVERY_MS) backgroundStep();
    }
    handler.reportProblems();
  }

  return {
    accept(request) {
      add(request);
      pump();
      if (background.waiting()) idle ??= setImmediate(whenIdle);
    },
  };
}
