/**
 * Failpoints: named points in the code where a crash is worth testing. `OPENCLAW_FAILPOINT=name[:nth]` kills the process with SIGKILL the nth
 * time (default first) that the point is reached. Release bundles are built with `__FAILPOINTS__` false and contain none of this code.
 */
declare const __FAILPOINTS__: boolean | undefined;

/** All failpoints, so that a harness can go through them. */
export const FAILPOINTS = [
  "store.group.begun",
  "store.group.applied",
  "store.group.committed",
  "store.group.acknowledged",
  "projection.appended",
  "projection.repair.written",
  "transcript.packed",
  "transcript.compressed",
  "transcript.published",
  "import.file.committed",
  "index.written",
  "index.replaced",
  "backup.written",
  "restore.moved",
  "restore.swapped",
  "config.written",
  "doctor.moved",
  "plugins.staged",
  "plugins.change.begun",
  "plugins.change.aside",
  "plugins.change.swapped",
  "plugins.change.recorded",
  "skills.change.aside",
  "skills.change.swapped",
  "inbox.committed",
  "ack.sent",
  "turn.started",
  "model.result.committed",
  "tool.intent.committed",
  "tool.done",
  "approval.decided",
  "command.outcome.committed",
  "cron.claimed",
  "cron.started",
  "cron.accepted",
  "cron.ended",
  "cron.finished",
  "cron.file.recorded",
  "cron.webhook.sending",
  "cron.webhook.sent",
  "heartbeat.due",
  "heartbeat.accepted",
  "heartbeat.reported",
  "boot.prepared",
  "boot.accepted",
  "session-memory.saved",
  "session-memory.named",
  "webhook.begun",
  "webhook.wake.begun",
  "webhook.wake.queued",
  "webhook.accepted",
  "webhook.ended",
  "webhook.reported",
  "webhook.finished",
  "subagent.spawned",
  "subagent.announced",
  "subagent.killed",
  "subagent.steered",
  "node.invoke.begun",
  "node.invoke.answered",
  "node.invoke.ended",
  "node.host.begun",
  "node.host.ran",
  "node.host.answered",
  "exchange.accepted",
  "exchange.asked",
  "exchange.answered",
  "exchange.ended",
  "subagent.settled",
  "outbox.committed",
  "send.attempted",
  "send.receipt",
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

/** Bound before any plugin code loads: a failpoint may be reached inside a plugin's call, where ending the process is not allowed. */
const kill = process.kill.bind(process);

/** Kills the process when `OPENCLAW_FAILPOINT` names this point; until the nth time, the variable of this thread counts down. */
export function failpoint(name: Failpoint): void {
  if (typeof __FAILPOINTS__ === "undefined" || __FAILPOINTS__) {
    const [wanted, nth = "1"] = process.env["OPENCLAW_FAILPOINT"]?.split(":") ?? [];
    if (wanted !== name) return;
    if (Number(nth) === 1) kill(process.pid, "SIGKILL");
    process.env["OPENCLAW_FAILPOINT"] = `${name}:${Number(nth) - 1}`;
  }
}
