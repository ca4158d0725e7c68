import { access } from "node:fs/promises";
import { messageOf } from "../base/errors.ts";
import { lazy } from "../base/lazy.ts";
import { jobsFile, POSTS } from "./cron/jobs-file.ts";
import type { Cron, CronDeps, CronEvent, Emit } from "./cron/cron.ts";
import type { CronFilesDeps } from "./cron/files.ts";
import type { CronJob } from "./cron/job.ts";
import type { RetentionDeps } from "./cron/retention.ts";

export interface LazyCronDeps extends Omit<CronDeps, "config" | "emit">, Omit<CronFilesDeps, "config">, Pick<RetentionDeps, "removeSession"> {
  readonly config: CronFilesDeps["config"] & CronDeps["config"];
  /** Resolves when what was found at the first start is in the store. */
  readonly imported: () => Promise<void>;
  /** Called with everything that happens to jobs, once it is on disk. */
  readonly onEvent: (event: CronEvent, job: CronJob | undefined) => void;
}

export interface LazyCron extends Omit<Cron, "start"> {
  readonly path: () => string;
  /** Looks whether there are jobs. Their code is loaded beside everything else that a start has to do; `running` resolves when they run. */
  start(): Promise<{ readonly running: Promise<void> }>;
}

/** Scheduled jobs: their code is loaded when there is a job, or when one is asked for. */
export function createLazyCron(deps: LazyCronDeps): LazyCron {
  const open = lazy(async () => {
    const { createCron, createCronFiles, createRetention } = await import("./cron/index.ts");
    let files = createCronFiles(deps);
    const retention = createRetention(deps);
    const emit: Emit = (event, job) => {
      if (event.action === "finished") {
        files.finished({ ts: deps.clock.now(), ...event });
        void retention.sweep();
      }
      if (event.action !== "started") files.changed();
      deps.onEvent(event, job);
    };
    // The first start takes over the same file, job by job: what is made of them here comes after that.
    await deps.imported();
    await files.import();
    const cron = createCron({ ...deps, emit });
    await cron.start();
    void files.catchUp().catch((error: unknown) => deps.log.warn(`the cron jobs file may be out of date: ${messageOf(error)}`));
    /** The setting may name another file now. */
    async function follow(): Promise<void> {
      if (files.path === jobsFile(deps.config)) return;
      await files.close();
      files = createCronFiles(deps);
      await files.import();
      files.changed();
    }
    return { cron, follow, closeFiles: () => Promise.all([files.close(), retention.close()]) };
  });
  const hasFile = (): Promise<boolean> =>
    access(jobsFile(deps.config)).then(
      () => true,
      () => false,
    );
  const cron = async (): Promise<Cron> => (await open()).cron;
  return {
    path: () => jobsFile(deps.config),
    async start() {
      const [earliest, running, posts] = await Promise.all([
        deps.store.read("cron.job.earliest", {}),
        deps.store.read("cron.slot.running", {}),
        deps.store.read("idempotency.running", { scope: POSTS }),
      ]);
      const isNeeded = earliest !== null || running.length > 0 || posts.length > 0 || (await hasFile());
      return { running: isNeeded ? open().then(() => undefined) : Promise.resolve() };
    },
    async reconsider() {
      if (!open.started()) return;
      const opened = await open();
      await opened.follow();
      await opened.cron.reconsider();
    },
    list: async (filter) => (await cron()).list(filter),
    status: async () => (await cron()).status(),
    add: async (input) => (await cron()).add(input),
    update: async (id, patch) => (await cron()).update(id, patch),
    remove: async (id) => (await cron()).remove(id),
    run: async (id, mode) => (await cron()).run(id, mode),
    runs: async (id, limit) => (await cron()).runs(id, limit),
    next: async (...asked) => (await cron()).next(...asked),
    upcoming: async (range) => (await cron()).upcoming(range),
    async [Symbol.asyncDispose]() {
      if (!open.started()) return;
      const opened = await open();
      await opened.cron[Symbol.asyncDispose]();
      await opened.closeFiles();
    },
  };
}
