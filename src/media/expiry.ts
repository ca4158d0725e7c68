import type { Dirent } from "node:fs";
import { lstat, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { fileError, systemCode } from "../base/errors.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { Store } from "../store/index.ts";

interface ExpiryRequest {
  /** `<state>/media`. */
  readonly folder: string;
  /** Files last written before this time have expired. */
  readonly before: number;
  /** The oldest go until all of them take no more bytes than this. */
  readonly maxBytes: number;
  /** Files written after this time stay, however many there are. */
  readonly youngest: number;
  /** Which of these names are still referenced. Called right before they are removed. */
  readonly needed: (names: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Most files to remove; the rest is left for the next run. */
  readonly limit: number;
}

interface Found {
  readonly name: string;
  readonly path: string;
}

interface Stored extends Found {
  readonly at: number;
  readonly bytes: number;
}

async function* filesIn(folder: string): AsyncGenerator<Found> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (systemCode(error) === "ENOENT") return;
    throw fileError(folder, "could not list stored media", error);
  }
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (entry.isFile()) yield { name: entry.name, path };
  }
}

/** Undefined: it no longer exists. */
async function factsOf(path: string): Promise<Pick<Stored, "at" | "bytes"> | undefined> {
  try {
    const { mtimeMs: at, size: bytes } = await lstat(path);
    return { at, bytes };
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw fileError(path, "could not look at stored media", error);
  }
}

/** Those that have expired, and the oldest ones that are too many. */
function dueOf(files: readonly Stored[], { before, maxBytes, youngest }: Pick<ExpiryRequest, "before" | "maxBytes" | "youngest">): readonly Stored[] {
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const due: Stored[] = [];
  for (const file of files.toSorted((a, b) => a.at - b.at)) {
    const isExtra = bytes > maxBytes && file.at < youngest;
    if (file.at >= before && !isExtra) break;
    bytes -= file.bytes;
    due.push(file);
  }
  return due;
}

/** Removes expired files, except those still needed. Links are left alone, and nothing outside of the folder is touched. */
async function removeExpired({ folder, needed, limit, ...bounds }: ExpiryRequest): Promise<{ readonly removed: number; readonly kept: number }> {
  const files: Stored[] = [];
  for await (const file of filesIn(folder)) {
    const facts = await factsOf(file.path);
    if (facts) files.push({ ...file, ...facts });
  }
  const old = dueOf(files, bounds);
  if (old.length === 0) return { removed: 0, kept: 0 };
  const wanted = await needed(old.map(({ name }) => name));
  const gone = old.filter(({ name }) => !wanted.has(name)).slice(0, limit);
  for (const { path } of gone) {
    await unlink(path).catch((error: unknown) => {
      if (systemCode(error) !== "ENOENT") throw fileError(path, "could not remove stored media", error);
    });
  }
  return { removed: gone.length, kept: old.length - gone.length };
}

const DEFAULT_DAYS = 7;
const DEFAULT_MB = 2048;
const MB = 1024 * 1024;
/** A turn or a plugin may be about to use a file that nothing names yet. */
const IN_USE_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Per pass; what is left is done in the next one. */
const MOST_FILES = 1000;
/** Where more rows than this have no end, nothing is removed: not all of them were looked at. */
const MOST_ROWS = 100_000;
/** Longer texts are no paths of files. */
const MAX_PATH = 8192;

/** Texts anywhere in a row's payload that could name a file. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") {
    if (value.length <= MAX_PATH) yield value;
  } else if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) yield* textsIn(inner);
  }
}

/** Payloads of messages that have no end and of answers that are still to be sent. Undefined: there are too many to look at. */
async function openPayloads(store: Pick<Store, "read">): Promise<readonly unknown[] | undefined> {
  const states = ["pending", "attempting", "unknown"] as const;
  const lists = await Promise.all([
    store.read("inbox.open", { limit: MOST_ROWS }),
    ...states.map((state) => store.read("outbox.recent", { state, limit: MOST_ROWS })),
  ]);
  return lists.some(({ length }) => length >= MOST_ROWS) ? undefined : lists.flatMap((rows) => rows.map(({ payload }) => payload));
}

/** A message that waits or is being answered may use any file written since it came. */
async function oldestOpen(store: Pick<Store, "read">): Promise<number> {
  const [oldest] = await store.read("inbox.open", { limit: 1 });
  return oldest?.receivedAt ?? Infinity;
}

/** Those of the names that an open row has somewhere. Names of stored files are unique, so that a name is enough. */
async function neededNames(store: Pick<Store, "read">, names: readonly string[]): Promise<ReadonlySet<string>> {
  const payloads = await openPayloads(store);
  if (!payloads) return new Set(names);
  const text = [...textsIn(payloads)].filter((path) => /[/\\]/.test(path)).join("\n");
  // A path may be written as an address.
  return new Set(names.filter((name) => text.includes(name) || text.includes(encodeURIComponent(name))));
}

export interface ExpireMediaDeps {
  readonly store: Pick<Store, "read">;
  readonly clock: Pick<Clock, "now">;
  readonly config: () => OpenClawConfig;
  readonly stateDir: string;
}

/** Removes files of messages that are past their time and that nothing without an end refers to. */
export async function expireMedia({ store, clock, config, stateDir }: ExpireMediaDeps): Promise<{ readonly removed: number; readonly kept: number }> {
  const { mediaDays = DEFAULT_DAYS, mediaMb = DEFAULT_MB } = config().store?.retention ?? {};
  const now = clock.now();
  return removeExpired({
    folder: join(stateDir, "media"),
    before: now - mediaDays * DAY_MS,
    maxBytes: mediaMb * MB,
    youngest: Math.min(now - IN_USE_MS, await oldestOpen(store)),
    needed: (names) => neededNames(store, names),
    limit: MOST_FILES,
  });
}
