/**
 * Failpoints: places where dying is interesting. `OPENCLAW_FAILPOINT=name[:nth]` kills the process with SIGKILL the nth time
 * (default first) that place is passed. Release bundles are built with `__FAILPOINTS__` false, and nothing of this is left in them.
 */
declare const __FAILPOINTS__: boolean | undefined;

/** Every place, so that a harness can walk them all. */
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
  "inbox.committed",
  "ack.sent",
  "turn.started",
  "model.result.committed",
  "tool.intent.committed",
  "tool.done",
  "approval.decided",
  "command.fate.committed",
  "outbox.committed",
  "send.attempted",
  "send.receipt",
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

const passed = new Map<string, number>();
/** Taken before anything is loaded that may not end the process: a place may be passed on behalf of a plugin. */
const kill = process.kill.bind(process);

/** Dies here when asked to. */
export function failpoint(name: Failpoint): void {
  if (typeof __FAILPOINTS__ === "undefined" || __FAILPOINTS__) dieIfAsked(name);
}

function dieIfAsked(name: Failpoint): void {
  const asked = process.env["OPENCLAW_FAILPOINT"];
  if (!asked) return;
  const [wanted, nth = "1"] = asked.split(":");
  if (wanted !== name) return;
  const count = (passed.get(name) ?? 0) + 1;
  passed.set(name, count);
  if (count === Number(nth)) kill(process.pid, "SIGKILL");
}
