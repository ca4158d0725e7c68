import { join } from "node:path";
import { AppError, messageOf } from "../../../base/errors.ts";
import { failpoint } from "../../../base/failpoints.ts";
import { createRootedFiles } from "../../../base/rooted-files.ts";
import { defaultAgentId } from "../../../config/index.ts";
import type { InternalHookHandler } from "../../../hooks/index.ts";
import type { BundledDeps } from "./index.ts";

const MOST_BYTES = 65_536;

/** The session in which an agent's BOOT.md runs: the main one stays as it is. */
export const bootSession = (agentId: string): string => `agent:${agentId}:boot`;

/** `boot-2026-01-05_16-26-03-123-0a1b2c3d` */
const sessionIdAt = (at: number, hex: string): string => `boot-${new Date(at).toISOString().replace("T", "_").replaceAll(/[:.]/g, "-").slice(0, -1)}-${hex}`;

const promptOf = (text: string): string =>
  [
    "The gateway has just started. This is a boot check: do what BOOT.md says, and nothing else.",
    "",
    "BOOT.md:",
    text,
    "",
    "If it asks you to send a message, use the tool `message` with the action `send`, and name the recipient in `target`.",
    "Your final answer is not sent to anyone. When you are done, or when there is nothing to do, answer NO_REPLY.",
  ].join("\n");

/** Undefined when there is none, or nothing in it. */
async function readBootFile(workspaceDir: string): Promise<string | undefined> {
  try {
    // Nothing is written, so no names for temporary files are needed.
    await using file = await createRootedFiles({ root: workspaceDir, unique: () => "" }).open(join(workspaceDir, "BOOT.md"));
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    const text = buffer.toString("utf8", 0, bytesRead).trim();
    return text === "" ? undefined : text;
  } catch (error) {
    if (error instanceof AppError && error.code === "NOT_FOUND") return undefined;
    throw error;
  }
}

function agentsOf({ config }: Pick<BundledDeps, "config">): readonly string[] {
  const listed = (config.current.agents?.list ?? []).map(({ id }) => id.trim().toLowerCase());
  return listed.length === 0 ? [defaultAgentId(config.current)] : [...new Set(listed)];
}

/** Agents whose BOOT.md an earlier start began and did not finish. */
async function unfinished({ store }: Pick<BundledDeps, "store">, agents: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await Promise.all(agents.map((agentId) => store.read("inbox.open", { sessionKey: bootSession(agentId), limit: 1 })));
  return new Set(agents.filter((_, index) => (rows[index] ?? []).length > 0));
}

/** One run for each agent with a BOOT.md, one after the other. Created before the runs of the previous process go on. */
export async function bootMd(deps: BundledDeps): Promise<InternalHookHandler> {
  const { store, ids, log, runs, workspaceOf, signal } = deps;
  const left = await unfinished(deps, agentsOf(deps));

  async function boot(agentId: string, startedAt: number): Promise<void> {
    const text = await readBootFile(workspaceOf(agentId));
    if (text === undefined) return;
    const sessionKey = bootSession(agentId);
    if (left.has(agentId)) return log.info(`BOOT.md of ${agentId} resumed from the previous process`);
    const entry = {
      sessionId: sessionIdAt(startedAt, ids.hex(4)),
      updatedAt: startedAt,
      chatType: "direct",
      channel: "webchat",
      systemSent: false,
      label: "Boot",
    };
    await store.write("sessions.put", { key: sessionKey, agentId, entry });
    failpoint("boot.prepared");
    const runId = `boot:${startedAt}:${agentId}`;
    const { ended } = await runs.accept({ runId, kind: "cron", sessionKey, message: promptOf(text), channel: "webchat" });
    failpoint("boot.accepted");
    const outcome = ended ?? (await runs.outcome(runId, signal));
    if (outcome?.status === "error" && outcome.failure?.kind !== "restarting") log.warn(`BOOT.md of ${agentId} failed: ${outcome.error}`, { runId });
    else if (outcome?.status === "ok") log.info(`BOOT.md of ${agentId} is done`, { runId });
  }

  return ({ timestamp }) => {
    // A run may take longer than a hook may: nobody waits for it here.
    void (async () => {
      for (const agentId of agentsOf(deps)) {
        if (signal.aborted) return;
        await boot(agentId, timestamp.getTime()).catch((error: unknown) => {
          if (!signal.aborted) log.error(`BOOT.md of ${agentId} could not be run: ${messageOf(error)}`, { agentId });
        });
      }
    })();
  };
}
