import type { PluginFacts } from "../plugins/index.ts";
import { createHash } from "node:crypto";
import { stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Redactor } from "../base/redaction.ts";
import type { Channels } from "../channels/index.ts";
import type { Config } from "../config/index.ts";
import type { HealthReport } from "../gateway/index.ts";
import type { MethodResult } from "../protocol/index.ts";
import type { Store } from "../store/index.ts";
import type { ModelView } from "./model-view.ts";
import { createProblemList, type Trouble } from "./problem.ts";
import type { RunBoard } from "./runs.ts";
import {
  channelTroubles,
  configTroubles,
  createFailureTroubles,
  createJobTroubles,
  diskTroubles,
  modelTroubles,
  pluginTroubles,
  type DiskSpace,
} from "./troubles.ts";

type Overview = MethodResult<"overview">;

export interface OverviewDeps {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly redactor: Pick<Redactor, "text">;
  readonly version: string;
  readonly health: () => HealthReport;
  readonly runs: Pick<RunBoard, "list">;
  readonly channels: Pick<Channels, "health" | "accounts">;
  /** Of plugins that run. */
  readonly plugins: () => PluginFacts | undefined;
  readonly model: ModelView;
  /** Makes the commands in a text run as they are printed. */
  readonly runnable?: ((text: string) => string) | undefined;
}

const MOST_QUEUES = 100;

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}

async function spaceAt(path: string): Promise<DiskSpace | undefined> {
  return statfs(path).then(
    ({ bavail, blocks, bsize }) => ({ freeBytes: bavail * bsize, totalBytes: blocks * bsize }),
    () => undefined, // Some file systems do not say.
  );
}

async function storeFacts({ store, config }: OverviewDeps, admin: boolean): Promise<Overview["store"]> {
  const path = join(config.paths.state, "openclaw.db");
  const [{ total }, bytes, walBytes] = await Promise.all([store.read("sessions.list", { limit: 1 }), sizeOf(path), sizeOf(`${path}-wal`)]);
  return {
    engine: "sqlite",
    sessions: total,
    ...(admin ? { path } : {}),
    ...(bytes === undefined ? {} : { bytes }),
    ...(walBytes === undefined ? {} : { walBytes }),
  };
}

/** What sessions are called. */
async function namesOf(store: OverviewDeps["store"], of: readonly { readonly sessionKey: string }[]): Promise<(key: string) => { readonly name?: string }> {
  const keys = [...new Set(of.map(({ sessionKey }) => sessionKey))];
  const names = new Map(keys.length === 0 ? [] : (await store.read("sessions.names", { keys })).map(({ key, name }) => [key, name]));
  return (key) => {
    const name = names.get(key);
    return name === undefined ? {} : { name };
  };
}

const shortHash = (text: string): string => createHash("sha1").update(text).digest("hex").slice(0, 12);

function healthTroubles(problems: readonly string[]): Trouble[] {
  return problems.map((text) => ({ id: `health:${shortHash(text)}`, level: "error", text, todo: "For details, run: openclaw doctor" }));
}

/** What the gateway does now, and what is wrong with it, in one answer that costs little. */
export function createOverview(deps: OverviewDeps): (asker: { readonly admin: boolean }) => Promise<Overview> {
  const runnable = deps.runnable ?? ((text: string): string => text);
  const typed = (trouble: Trouble): Trouble => ({
    ...trouble,
    text: runnable(trouble.text),
    ...(trouble.todo === undefined ? {} : { todo: runnable(trouble.todo) }),
  });
  const { config, store, clock, redactor } = deps;
  const problems = createProblemList(redactor.text);
  const failures = createFailureTroubles({ store, now: clock.now });
  const failingJobs = createJobTroubles(store);
  return async ({ admin }) => {
    const health = deps.health();
    const [runs, queues, failed, jobs, stored, disk, model] = await Promise.all([
      deps.runs.list(),
      store.read("inbox.queues", { limit: MOST_QUEUES }),
      failures.list(),
      failingJobs(),
      storeFacts(deps, admin),
      spaceAt(config.paths.state),
      deps.model(),
    ]);
    const names = await namesOf(store, [...runs, ...queues]);
    const now = clock.now();
    const facts = deps.plugins();
    const troubles = [
      ...healthTroubles(health.problems),
      ...modelTroubles(model, now),
      ...channelTroubles(deps.channels),
      ...configTroubles(config),
      ...(facts ? pluginTroubles(facts) : []),
      ...failed,
      ...jobs,
      ...diskTroubles(disk, config.paths.state),
    ];
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    return {
      ts: now,
      version: deps.version,
      startedAt: Date.parse(health.startedAt),
      answering: { model: model.model, offline: model.offline, why: runnable(model.why), ...(model.reason ? { reason: model.reason } : {}) },
      runs: runs.map((run) => ({ ...run, ...names(run.sessionKey) })),
      queues: queues.map((queue) => ({ ...queue, ...names(queue.sessionKey) })),
      problems: [...problems.of(troubles.map(typed), now)],
      store: stored,
      ...(disk ? { disk: { ...disk } } : {}),
      memory: { rssBytes: rss, heapUsedBytes: heapUsed },
      cpu: { userMs: user / 1000, systemMs: system / 1000 },
    };
  };
}
