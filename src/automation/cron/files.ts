/**
 * The documented files of jobs: `jobs.json`, and a file of runs for each job beside it. They are written for other programs and read when another program
 * changed them while the gateway was not running; the store is what counts.
 */
import { createHash } from "node:crypto";
import { appendFile, copyFile, mkdir, open, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import type { Logger } from "../../base/log/logger.ts";
import { isRecord } from "../../base/records.ts";
import { parseDocument, type Config } from "../../config/index.ts";
import { CRON_FIELDS, loadValidators, normalizeNewJob } from "../../protocol/index.ts";
import type { CronJobRow, Store } from "../../store/index.ts";
import { withNext, type CronEntry } from "./cron.ts";
import { readJob, type CronJob } from "./job.ts";
import { jobsFile } from "./jobs-file.ts";
import { extraOf, jobOf, putJob, type Extra } from "./jobs.ts";

export interface CronFilesDeps {
  readonly config: Pick<Config, "current" | "paths">;
  readonly store: Pick<Store, "read" | "write" | "commit">;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface CronFiles {
  readonly path: string;
  /** Imports what another program wrote. */
  import(): Promise<void>;
  /** Has the file written when jobs changed and the previous process did not get to it. */
  catchUp(): Promise<void>;
  /** Jobs changed: the file is written soon. */
  changed(): void;
  /** A run ended. */
  finished(entry: CronEntry): void;
  /** Resolves when everything is written. */
  close(): Promise<void>;
}

/** What is known of the file as it was written here, as a `Written`. */
const META = "cron.file";
/** Entries of another program's file that are no jobs here: they stay in the file. */
const UNREADABLE = "cron.unreadable";
const VERSION = 1;
const WRITE_AFTER_MS = 500;
/** A write that takes long is followed by a pause so many times as long. */
const PAUSE_FACTOR = 5;
const MAX_PAUSE_MS = 10_000;
/** Jobs that are written at once: the event loop is free between two pages. */
const PAGE = 50;
const MAX_RUNS_BYTES = 2_000_000;
const RUNS_KEPT = 2000;

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
const isMissing = (error: unknown): boolean => isRecord(error) && error["code"] === "ENOENT";

export function createCronFiles(deps: CronFilesDeps): CronFiles {
  const { store, clock, log } = deps;
  const path = jobsFile(deps.config);
  let timer: Disposable | undefined;
  let pauseMs = WRITE_AFTER_MS;
  let writing: Promise<unknown> = Promise.resolve();

  const inOrder = (work: () => Promise<unknown>): void => {
    writing = writing.then(work).catch((error: unknown) => log.warn(`the cron jobs file could not be written: ${messageOf(error)}`, { path }));
  };

  /** Writes jobs page by page: one that changes after its page was read has the file written again. */
  async function write(): Promise<void> {
    const startedAt = clock.monotonic();
    const mark = await store.read("cron.job.mark", {});
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const next = `${path}.${process.pid}.tmp`;
    const version = await writeJobs(store, next);
    await copyFile(path, `${path}.bak`).catch(() => undefined);
    // Killed before the file is replaced, the one that is there is still recognized.
    const { versions } = writtenOf(await store.read("meta.get", { key: META }));
    await store.write("meta.set", { key: META, value: { versions: [version, ...versions.slice(0, 1)], mark } satisfies Written });
    failpoint("cron.file.recorded");
    await rename(next, path);
    pauseMs = Math.min(MAX_PAUSE_MS, Math.max(WRITE_AFTER_MS, PAUSE_FACTOR * (clock.monotonic() - startedAt)));
  }

  function changed(): void {
    timer ??= clock.after(pauseMs, () => {
      timer = undefined;
      inOrder(write);
    });
  }

  /** Takes over the jobs of a file: new and changed ones, and that some are gone. One that was changed here since the file was written stays. */
  async function takeOver(jobs: readonly ReadJob[], isFirst: boolean): Promise<void> {
    const known = new Map((await store.read("cron.job.list", {})).map((row) => [row.id, row]));
    for (const { job, extra } of jobs) {
      const row = known.get(job.id);
      known.delete(job.id);
      const stored = row && !isFirst ? jobOf(row) : undefined;
      if (row && stored && (stored.updatedAtMs > job.updatedAtMs || (isSameJob(stored, job) && isDeepStrictEqual(extraOf(row), extra)))) continue;
      const isReplanned = stored !== undefined && (!isDeepStrictEqual(stored.schedule, job.schedule) || stored.enabled !== job.enabled);
      await store.commit([putJob(isReplanned ? withNext(job, clock.now()) : job, row?.version ?? 0, extra)]);
    }
    for (const id of known.keys()) await store.write("cron.job.delete", { id });
    log.info(`${jobs.length} cron jobs were read from ${path}, which was changed by another program`);
  }

  return {
    path,
    async import() {
      const written = writtenOf(await store.read("meta.get", { key: META }));
      const text = await readUnlessOwn(path, written).catch((error: unknown) => {
        if (!isMissing(error)) log.warn(`the cron jobs in ${path} cannot be read and were skipped: ${messageOf(error)}`);
        return undefined;
      });
      if (text === undefined) return;
      const { value, issues } = parseDocument(text);
      if (!isRecord(value) || !Array.isArray(value["jobs"]) || issues.some(({ severity }) => severity === "error")) {
        log.warn(`the cron jobs in ${path} cannot be read and were skipped: the file is not a list of jobs; repair it or restore ${path}.bak`);
        return;
      }
      if (typeof value["version"] === "number" && value["version"] > VERSION) {
        log.warn(`the cron jobs in ${path} were written by a newer version (${value["version"]}) and were skipped`);
        return;
      }
      const read = await readJobs(value["jobs"], clock.now());
      for (const { problem } of read.unreadable) log.warn(`a cron job in ${path} was skipped: ${problem}`);
      await store.write("meta.set", { key: UNREADABLE, value: read.unreadable.map(({ raw }) => raw) });
      await takeOver(read.jobs, written.versions.length === 0);
      // From here on the store is ahead of this text, whether or not the file is written again.
      await store.write("meta.set", { key: META, value: { versions: [{ digest: digest(text) }] } satisfies Written });
    },
    async catchUp() {
      const { mark } = writtenOf(await store.read("meta.get", { key: META }));
      const isNew = mark === undefined && (await store.read("cron.job.count", {})) > 0;
      if (isNew || (mark !== undefined && mark !== (await store.read("cron.job.mark", {})))) changed();
    },
    changed,
    finished: (entry) => inOrder(() => appendRun(path, entry)),
    async close() {
      if (timer) inOrder(write);
      timer?.[Symbol.dispose]();
      timer = undefined;
      await writing;
    },
  };
}

/** Adds a finished run to the file of its job, beside the file of jobs. */
async function appendRun(path: string, entry: CronEntry): Promise<void> {
  const file = join(dirname(path), "runs", `${entry.jobId.replaceAll(/[^\w-]/g, "_")}.jsonl`);
  const add = (): Promise<void> => appendFile(file, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
  await add().catch(async (error: unknown) => {
    if (!isMissing(error)) throw error;
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await add();
  });
  if ((await stat(file)).size <= MAX_RUNS_BYTES) return;
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n").slice(-RUNS_KEPT);
  await writeFile(`${file}.tmp`, `${lines.join("\n")}\n`, { mode: 0o600 });
  await rename(`${file}.tmp`, file);
}

/** One content of the file. */
interface Version {
  readonly digest: string;
  readonly size?: number;
  readonly mtimeMs?: number;
}

interface Written {
  /** The newest, and the one before. */
  readonly versions: readonly Version[];
  /** How the jobs stood that are in it. */
  readonly mark?: string;
}

function writtenOf(value: unknown): Written {
  if (typeof value === "string") return { versions: [{ digest: value }] };
  // Written above, and nowhere else.
  return isRecord(value) && Array.isArray(value["versions"]) ? (value as unknown as Written) : { versions: [] };
}

/** The text of a file that another program wrote; undefined for one of ours, which is not read when its size and time say so. */
async function readUnlessOwn(path: string, { versions }: Written): Promise<string | undefined> {
  const { size, mtimeMs } = await stat(path);
  if (versions.some((known) => known.size === size && known.mtimeMs === mtimeMs)) return undefined;
  const text = await readFile(path, "utf8");
  return versions.some((known) => known.digest === digest(text)) ? undefined : text;
}

/** Writes all jobs into a new file, on disk when it resolves. */
async function writeJobs(store: CronFilesDeps["store"], path: string): Promise<Version> {
  const hash = createHash("sha256");
  await using file = await open(path, "w", 0o600);
  let count = 0;
  const put = async (text: string): Promise<void> => {
    hash.update(text);
    await file.appendFile(text);
  };
  const putAll = async (jobs: readonly unknown[]): Promise<void> => {
    const texts = jobs.map((job) => `${count++ === 0 ? "" : ","}\n${JSON.stringify(job, undefined, 2)}`);
    await put(texts.join("").replaceAll("\n", "\n    "));
  };
  await put(`{\n  "version": ${VERSION},\n  "jobs": [`);
  for (let afterId: string | undefined = ""; afterId !== undefined;) {
    const rows: readonly CronJobRow[] = await store.read("cron.job.page", { afterId, limit: PAGE });
    await putAll(rows.map((row) => withExtra(jobOf(row), extraOf(row))));
    afterId = rows.length < PAGE ? undefined : rows.at(-1)?.id;
  }
  const unreadable = await store.read("meta.get", { key: UNREADABLE });
  await putAll(Array.isArray(unreadable) ? unreadable : []);
  await put(`${count === 0 ? "" : "\n  "}]\n}\n`);
  await file.datasync();
  const { size, mtimeMs } = await file.stat();
  return { digest: hash.digest("hex"), size, mtimeMs };
}

/** Whether two jobs say the same, whatever became of them so far. */
function isSameJob(a: CronJob, b: CronJob): boolean {
  const content = ({ state: _state, updatedAtMs: _updated, createdAtMs: _created, ...job }: CronJob): unknown => job;
  return isDeepStrictEqual(content(a), content(b));
}

const PARTS: Readonly<Record<string, readonly string[]>> = CRON_FIELDS;

/** What is known here of a job that another program wrote, and what is not: a field more, or one that is null, does not keep it from running. */
function divide(value: Readonly<Record<string, unknown>>, fields: readonly string[]): { readonly known: Record<string, unknown>; readonly extra: Extra } {
  const known: Record<string, unknown> = {};
  const extra: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const part = key === "job" ? undefined : PARTS[key];
    if (inner === null) continue;
    if (!fields.includes(key)) extra[key] = inner;
    else if (part && isRecord(inner)) {
      const divided = divide(inner, part);
      known[key] = divided.known;
      if (Object.keys(divided.extra).length > 0) extra[key] = divided.extra;
    } else known[key] = inner;
  }
  return { known, extra };
}

/** The job as it stands in the file. What is known here wins. */
function withExtra(job: CronJob, extra: Extra): unknown {
  const parts = Object.entries(job).map(([key, own]) => {
    const more = extra[key];
    return [key, isRecord(own) && isRecord(more) ? { ...more, ...own } : own] as const;
  });
  return { ...extra, ...Object.fromEntries(parts) };
}

interface ReadJob {
  readonly job: CronJob;
  readonly extra: Extra;
}

interface ReadJobs {
  readonly jobs: readonly ReadJob[];
  readonly unreadable: readonly { readonly raw: unknown; readonly problem: string }[];
}

/** Jobs as other programs write them; what is none is named. */
async function readJobs(list: readonly unknown[], now: number): Promise<ReadJobs> {
  const validators = await loadValidators();
  const jobs: ReadJob[] = [];
  const unreadable: { raw: unknown; problem: string }[] = [];
  for (const [index, raw] of list.entries()) {
    const name = isRecord(raw) && typeof raw["name"] === "string" ? JSON.stringify(raw["name"]) : `number ${index + 1}`;
    const { id, state, createdAtMs, updatedAtMs, ...rest } = isRecord(raw) ? raw : {};
    const normal = normalizeNewJob(rest);
    const { known: input, extra } = divide(isRecord(normal) ? normal : {}, CRON_FIELDS.job);
    const issues = validators.params("cron.add", input) ?? [];
    const problem =
      typeof id !== "string" || id === "" ? "it has no id" : jobs.some(({ job }) => job.id === id) ? `another job has the same id, ${id}` : issues.join("; ");
    if (typeof id !== "string" || problem !== "") {
      unreadable.push({ raw, problem: `${name}: ${problem}` });
      continue;
    }
    try {
      const job = readJob(id, input, { state, createdAtMs, updatedAtMs }, now);
      // A plan that it comes with is kept: what was missed since is due.
      jobs.push({ job: job.enabled && job.state.nextRunAtMs !== undefined ? job : withNext(job, now), extra });
    } catch (error) {
      unreadable.push({ raw, problem: `${name}: ${messageOf(error)}` });
    }
  }
  return { jobs, unreadable };
}
