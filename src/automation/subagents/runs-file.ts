/** `subagents/runs.json`: the documented file of runs, written for other programs. The store is what counts. */
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { childOf, type Child, type SubagentsDeps } from "./child.ts";

export interface RunsFile {
  /** Runs changed: the file is written soon. */
  changed(): void;
  /** Resolves when everything is written. */
  close(): Promise<void>;
}

const VERSION = 2;
const WRITE_AFTER_MS = 500;

/** A run as the file has it. */
function shownRun({ runId, childSessionKey, requesterSessionKey, createdAt, startedAt, endedAt, archiveAt, outcome, data }: Child) {
  const { reply, channel, accountId } = data.requesterOrigin;
  const { task, label, model, cleanup, runTimeoutSeconds, error } = data;
  const status = outcome === "killed" ? "error" : outcome;
  return {
    runId,
    childSessionKey,
    requesterSessionKey,
    requesterOrigin: { channel, accountId, to: reply?.to, threadId: reply?.threadId },
    task,
    label,
    model,
    cleanup,
    runTimeoutSeconds,
    createdAt,
    startedAt: startedAt ?? undefined,
    endedAt: endedAt ?? undefined,
    archiveAtMs: archiveAt ?? undefined,
    ...(status === null ? {} : { outcome: { status, error } }),
  };
}

export function createRunsFile({ config, store, clock, log }: SubagentsDeps): RunsFile {
  const path = join(config.paths.state, "subagents", "runs.json");
  let timer: Disposable | undefined;
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    const runs = (await store.read("subagents.list", {})).map(childOf);
    const text = `${JSON.stringify({ version: VERSION, runs: Object.fromEntries(runs.map((run) => [run.runId, shownRun(run)])) }, undefined, 2)}\n`;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(`${path}.tmp`, text, { mode: 0o600 });
    await rename(`${path}.tmp`, path);
  }

  function flush(): void {
    timer?.[Symbol.dispose]();
    timer = undefined;
    writing = writing.then(write).catch((error: unknown) => log.warn(`the sub-agents file could not be written: ${messageOf(error)}`, { path }));
  }

  return {
    changed() {
      timer ??= clock.after(WRITE_AFTER_MS, flush);
    },
    async close() {
      if (timer) flush();
      await writing;
    },
  };
}
