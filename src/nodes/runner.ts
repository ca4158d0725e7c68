import { AppError } from "../base/errors.ts";
import { isRecord } from "../base/records.ts";
import type { NodeRun, NodeRunner } from "../tools/index.ts";
import type { Nodes } from "./create-nodes.ts";
import { withOutcome } from "./disconnected.ts";
import { findNode, nodeName } from "./find-node.ts";

/** Time for a node to answer after its command has ended. */
const ANSWER_MS = 10_000;
const LONGEST_MS = 24 * 60 * 60_000;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** The result of `system.run`; what a node leaves out is unknown. */
export function nodeRunOf(payload: unknown): Extract<NodeRun, { kind: "ended" }> {
  const { exitCode, timedOut, stdout, stderr, error } = isRecord(payload) ? payload : {};
  return {
    kind: "ended",
    exitCode: typeof exitCode === "number" ? exitCode : null,
    timedOut: timedOut === true,
    stdout: textOf(stdout),
    stderr: textOf(stderr),
    error: typeof error === "string" && error !== "" ? error : null,
  };
}

/** The documented refusals: no other text of a node is passed on as a reason. */
const REFUSAL = /SYSTEM_RUN_(?:DENIED|DISABLED): (?:approval required|allowlist miss|security=deny)/;

/** What a refusal of the node means. Undefined when it is none of its rules. */
export function refusalOf(error: unknown): Exclude<NodeRun, { kind: "ended" }> | undefined {
  const code = error instanceof AppError ? /SYSTEM_RUN_(?:DENIED|DISABLED)/.exec(error.message)?.[0] : undefined;
  if (!(error instanceof AppError) || code === undefined) return undefined;
  const text = REFUSAL.exec(error.message)?.[0] ?? `${code}: the rules of the node do not allow it`;
  return text.includes("approval required") ? { kind: "asks" } : { kind: "refused", text };
}

/** Runs the commands of agents on nodes. Its callers ask the operator where that is needed. */
export function createNodeRunner(nodes: Pick<Nodes, "list" | "invoke">): NodeRunner {
  return {
    async find(wanted) {
      const all = await nodes.list();
      const runners = all.filter(({ connected, commands }) => connected && commands.includes("system.run"));
      if (wanted === undefined && runners.length === 0)
        throw new AppError("UNAVAILABLE", "exec host=node needs a paired node that runs commands; there is none");
      if (wanted === undefined && runners.length > 1)
        throw new AppError("INVALID_INPUT", `several nodes run commands: ${runners.map(nodeName).join(", ")}; name one with node, or set tools.exec.node`);
      const found = wanted === undefined ? runners[0]! : findNode(wanted, all);
      if (!found.connected) throw new AppError("UNAVAILABLE", `the node ${nodeName(found)} is not connected`);
      if (!found.commands.includes("system.run")) throw new AppError("UNAVAILABLE", `the node ${nodeName(found)} does not run commands (system.run)`);
      return { nodeId: found.nodeId, name: nodeName(found) };
    },
    async run({ nodeId, key, command, timeoutMs, approvalId, ...rest }, signal, onOutput) {
      const params = {
        command: ["/bin/sh", "-lc", command],
        rawCommand: command,
        ...rest,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        ...(approvalId === undefined ? {} : { runId: approvalId, approved: true, approvalDecision: "allow-once" }),
      };
      const invokeMs = timeoutMs === undefined ? LONGEST_MS : timeoutMs + ANSWER_MS;
      try {
        const { payload } = await nodes.invoke(
          { nodeId, command: "system.run", params, timeoutMs: invokeMs, idempotencyKey: key },
          { signal, sessionKey: rest.sessionKey, ...(onOutput ? { onProgress: (_seq: number, chunk: string) => onOutput(chunk) } : {}) },
          { internal: true },
        );
        return nodeRunOf(payload);
      } catch (error) {
        const refused = refusalOf(error);
        if (refused) return refused;
        throw error instanceof AppError ? withOutcome(error, error.details) : error;
      }
    },
  };
}
