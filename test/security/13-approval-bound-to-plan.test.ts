/** 13: an approval held for another command, folder or environment, or came too late. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openStore } from "../../src/store/index.ts";
import { createApprovals } from "../../src/tools/approvals/approvals.ts";
import { planCommand, type ExecPlan, type PlanInput } from "../../src/tools/exec/plan.ts";
import { startPlan, type PlanRun } from "../../src/tools/exec/run.ts";
import { createProcesses } from "../../src/tools/process/processes.ts";

const folder = mkdtempSync(join(tmpdir(), "exec-bound-"));
const INPUT: PlanInput = { command: "true a", cwd: folder, host: "gateway", path: "/usr/bin:/bin", env: { A: "1" }, shell: "/bin/sh" };
const approved = planCommand(INPUT);

function runIn(): PlanRun {
  const clock = manualClock();
  return {
    processes: createProcesses({ clock, random: systemRandom }),
    clock,
    env: {},
    scope: "s",
    signal: new AbortController().signal,
    update: () => undefined,
    warnings: [],
    yieldMs: undefined,
    timeoutMs: undefined,
    cleanupMs: undefined,
  };
}

test.each<[string, Partial<PlanInput>]>([
  ["command", { command: "true b" }],
  ["spelling", { command: "true 'a'" }],
  ["cwd", { cwd: tmpdir() }],
  ["a variable's value", { env: { A: "2" } }],
  ["a variable more", { env: { A: "1", B: "" } }],
  ["no variables", { env: {} }],
  ["PATH", { path: "/bin:/usr/bin" }],
  ["folders before PATH", { pathPrepend: [folder] }],
  ["host", { host: "sandbox" }],
  ["shell", { shell: "/bin/bash" }],
  ["node", { node: "n" }],
  ["terminal", { pty: true }],
])("another %s is another plan, and does not run on this approval", async (_, change) => {
  const other = planCommand({ ...INPUT, ...change });
  expect(other.hash).not.toBe(approved.hash);
  await expect(startPlan(other, approved.hash, runIn())).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(startPlan({ ...other, hash: approved.hash }, approved.hash, runIn()), "with the hash put in").rejects.toMatchObject({ code: "CONFLICT" });
});

test("the same call is the same plan, through the store too, and runs", async () => {
  expect(planCommand({ ...INPUT }).hash).toBe(approved.hash);
  const process = await startPlan(JSON.parse(JSON.stringify(approved)) as ExecPlan, approved.hash, runIn());
  expect((await process.ended).code).toBe(0);
});

test("every field of a plan is under its hash", async () => {
  const changes: Record<keyof ExecPlan, unknown> = {
    version: 2,
    command: "x",
    analysable: false,
    segments: [],
    shell: ["/bin/bash", "-c"],
    script: "x",
    cwd: "/",
    env: {},
    path: "/",
    host: "node",
    node: "n",
    fromPlugins: ["A"],
    sandbox: "bwrap:other",
    pty: true,
    files: [{ path: "/x", digest: "none" }],
    hash: "0".repeat(64),
  };
  for (const key of Object.keys(changes) as (keyof ExecPlan)[]) {
    await expect(startPlan({ ...approved, [key]: changes[key] }, approved.hash, runIn()), key).rejects.toMatchObject({ code: "CONFLICT" });
  }
});

test("late, or after a restart, no answer counts", async () => {
  const clock = manualClock();
  const stateDir = mkdtempSync(join(tmpdir(), "exec-late-"));
  const make = (store: Parameters<typeof createApprovals>[0]["store"]) =>
    createApprovals({ store, clock, ids: createIds(systemRandom), notify: () => undefined });
  let open: string;
  {
    await using store = await openStore({ stateDir, clock });
    const approvals = make(store);
    const late = await approvals.request({ kind: "exec", request: { plan: approved }, timeoutMs: 1000 });
    clock.advance(1000);
    expect(await late.decision).toBe("timeout");
    await expect(approvals.resolve(late.id, "allow-once")).rejects.toMatchObject({ code: "NOT_FOUND" });
    open = (await approvals.request({ kind: "exec", request: { plan: approved } })).id;
  }
  await using store = await openStore({ stateDir, clock });
  const approvals = make(store);
  await expect(approvals.resolve(open, "allow-once")).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await approvals.denyFormer()).toBe(1);
  expect(await store.read("approvals.get", { id: open })).toMatchObject({ decision: "deny" });
});
