/** Recordings of what a profile's browser does, for the trace viewer of the driver. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext } from "playwright-core";
import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { ensureFolder } from "../base/files.ts";
import { loadSaving } from "../media/index.ts";
import { tracesFolder, type FilesDeps } from "./files.ts";
import type { RouteWork } from "./page-routes.ts";
import { flagIn } from "./params.ts";
import { within } from "./read-tab.ts";

export interface Traces {
  start(work: RouteWork): Promise<{ readonly ok: true; readonly profile: string }>;
  stop(work: RouteWork): Promise<{ readonly ok: true; readonly path: string }>;
}

/** A recording that nobody ends is ended here: it grows with everything that the pages show. */
const MOST_MINUTES = 30;
const START_MS = 10_000;
/** Everything is packed into one file. */
const STOP_MS = 60_000;

/** A recording: where it will be. */
interface Recording {
  readonly limit: Disposable;
  file?: Promise<string>;
}

async function saved(context: BrowserContext, files: FilesDeps): Promise<string> {
  ensureFolder(files.downloadsDir);
  const from = join(files.downloadsDir, `trace-${files.ids.hex(6)}.zip`);
  try {
    await within(files.clock, STOP_MS, context.tracing.stop({ path: from }), `the trace was not written within ${STOP_MS / 1000} seconds`);
  } finally {
    // The driver leaves the parts.
    await rm(tracesFolder(files), { recursive: true, force: true });
  }
  const { adoptMedia } = await loadSaving();
  return (await adoptMedia({ from, subdir: "browser", originalFilename: "trace.zip" }, files)).path;
}

export function createTraces(clock: Pick<Clock, "after">): Traces {
  /** By the browser that is being recorded. */
  const recordings = new WeakMap<BrowserContext, Recording>();
  return {
    async start({ browser, caller, params }) {
      const session = browser.session(caller.profile);
      const { context, gone } = await session.start();
      if (recordings.has(context)) throw new AppError("CONFLICT", "a trace is already being recorded: stop it first");
      const files = browser.files(caller.profile);
      const limit = clock.after(MOST_MINUTES * 60_000, () => {
        recording.file ??= saved(context, files);
        // The one who stops it gets the error.
        recording.file.catch(() => undefined);
      });
      const recording: Recording = { limit };
      recordings.set(context, recording);
      gone.addEventListener("abort", () => limit[Symbol.dispose](), { once: true });
      const options = { screenshots: flagIn(params, "screenshots") ?? true, snapshots: flagIn(params, "snapshots") ?? true };
      try {
        await within(browser.clock, START_MS, context.tracing.start(options), "the browser did not start recording in time");
      } catch (error) {
        limit[Symbol.dispose]();
        recordings.delete(context);
        throw error;
      }
      return { ok: true, profile: session.profile.name };
    },
    async stop({ browser, caller }) {
      const context = browser.session(caller.profile).running()?.context;
      const recording = context && recordings.get(context);
      if (!recording) throw new AppError("NOT_FOUND", "no trace is being recorded: start one with openclaw browser trace start");
      recordings.delete(context);
      recording.limit[Symbol.dispose]();
      return { ok: true, path: await (recording.file ?? saved(context, browser.files(caller.profile))) };
    },
  };
}
