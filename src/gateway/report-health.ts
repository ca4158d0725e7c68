import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/index.ts";
import type { HealthReport, HealthState } from "./health.ts";
import { nameHolders, type Store } from "../store/index.ts";

/** A write that waits for longer than this is worth telling. */
const SLOW_MS = 5000;

export interface HealthDeps {
  readonly version: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly uptimeMs: number;
  readonly config: Config;
  /** Why the file as it is now is not used; undefined when it is. */
  readonly brokenFile: () => string | undefined;
  /** Undefined while it opens. */
  readonly store: Store | undefined;
  /** False while plugins are being loaded, and whatever else has to be there before the first turn. */
  readonly isReady: boolean;
  /** What else needs attention. */
  readonly notices: readonly string[];
}

/** When this process started, and for how long it has run: by a clock that nobody sets. */
export function startedNow(clock: Pick<Clock, "now" | "monotonic">): () => Pick<HealthDeps, "startedAt" | "uptimeMs"> {
  const [startedAt, from] = [clock.now(), clock.monotonic()];
  return () => ({ startedAt, uptimeMs: Math.round(clock.monotonic() - from) });
}

/** What is well and what is not, in one answer. */
export function reportHealth({ version, pid, startedAt, uptimeMs, config, brokenFile, store, isReady, notices }: HealthDeps): HealthReport {
  const snapshot = config.snapshot();
  const stored = store?.health();
  const broken = brokenFile();
  const problems = [
    ...(stored?.failure ? [`the store failed: ${stored.failure.message}`] : []),
    ...(stored?.diskFull ? ["the disk is full: nothing new is accepted until there is space"] : []),
    ...(stored?.held ? [`${stored.held.file} is locked for writing by ${nameHolders(stored.held.by)}: nothing new is accepted until it is released`] : []),
    ...(stored && !stored.held && stored.waitingMs > SLOW_MS ? [`the disk is slow: a write has waited for ${Math.round(stored.waitingMs / 1000)} s`] : []),
    ...(stored?.notices ?? []).map((notice) => notice.message),
    ...(broken === undefined ? [] : [broken]),
    ...notices,
  ];
  const failed = stored?.state === "failed";
  const status: HealthState = failed ? "failed" : !stored || !isReady ? "starting" : problems.length > 0 ? "degraded" : "ok";
  return {
    ok: status === "ok" || status === "degraded",
    status,
    version,
    pid,
    startedAt: new Date(startedAt).toISOString(),
    uptimeMs,
    problems,
    config: {
      path: snapshot.path,
      source: snapshot.source === "last-good" || broken !== undefined ? "last-good" : snapshot.exists ? "file" : "defaults",
      issues: broken === undefined ? [] : broken.split("\n").slice(1),
    },
    store: { ...(stored ?? { state: "opening" }) },
  };
}
