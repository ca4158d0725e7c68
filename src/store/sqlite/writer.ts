import type { DatabaseSync } from "node:sqlite";
import { AppError } from "../../base/errors.ts";
import type { Background } from "./background.ts";
import type { Desk } from "./desk.ts";
import { errorMessage, storeError } from "./failure.ts";
import type { ControlRequest, Request } from "./messages.ts";
import type { SessionIndex } from "../session-index/index.ts";
import type { RequestQueue } from "./queue.ts";
import type { TranscriptFiles } from "./transcript-files.ts";

/** Commits in one transaction: more would make the first of them wait for the last. */
const MAX_GROUP = 512;
/** Under load background work still gets a turn this often. */
const BACKGROUND_EVERY_MS = 20;

export interface WriterDeps {
  readonly db: DatabaseSync;
  readonly desk: Desk;
  readonly queue: RequestQueue;
  readonly files: TranscriptFiles;
  readonly sessionIndex: SessionIndex | undefined;
  readonly background: Background;
  /**
   * One more connection that reads. While it is there, closing the writer does not move the log: after a failed fsync nothing is synced again,
   * and the log stays as it is for the next start.
   */
  readonly witness: () => Disposable;
  /** The last thing: the connection is closed and the caller was told. */
  readonly closed: () => void;
}

/** The writer's loop: takes what waits, commits it as a group, answers, and only then touches files and does other work. */
export interface Writer {
  /** Takes one message and works until none waits. */
  accept(request: Request): void;
}

export function createWriter(deps: WriterDeps): Writer {
  const { desk, queue, background, files } = deps;
  let lastBackground = performance.now();
  let idle: NodeJS.Immediate | undefined;

  function close(): AppError | undefined {
    files.close();
    desk.upkeep(() => deps.sessionIndex?.close());
    desk.tellProblems();
    try {
      using _witness = desk.failure ? deps.witness() : undefined;
      deps.db.close();
      return undefined;
    } catch (error) {
      return storeError("could not close the database", error);
    }
  }

  function control(request: ControlRequest): void {
    const reply = (error: AppError | undefined, value?: unknown): void =>
      desk.settle([error ? [request.id, false, errorMessage(error)] : [request.id, true, value]]);
    if (request.type === "close") {
      reply(close());
      deps.closed();
    } else if (request.type === "imported") background.whenImported(() => reply(undefined));
    else if (desk.failure) reply(new AppError("STORE_FAILED", `the store has failed: ${desk.failure.message}`));
    else if (request.type === "checkpoint") background.checkpoint(request.truncate, reply);
    else background.maintain(request, reply);
  }

  function backgroundStep(): boolean {
    lastBackground = performance.now();
    return desk.upkeep(background.step) ?? false;
  }

  function whenIdle(): void {
    idle = undefined;
    pump();
    if (backgroundStep()) idle ??= setImmediate(whenIdle);
  }

  function pump(): void {
    queue.pull();
    while (queue.size() > 0) {
      const group = queue.commits.splice(0, MAX_GROUP);
      const asked = queue.reads.splice(0);
      desk.prepare(group, asked);
      if (group.length > 0) desk.commit(group);
      if (asked.length > 0) desk.answer(asked);
      if (queue.commits.length === 0) for (const request of queue.controls.splice(0)) control(request);
      queue.pull();
      files.flush();
      if (performance.now() - lastBackground > BACKGROUND_EVERY_MS) backgroundStep();
    }
    desk.tellProblems();
  }

  return {
    accept(request) {
      queue.accept(request);
      pump();
      if (background.waiting()) idle ??= setImmediate(whenIdle);
    },
  };
}
