import type { Setup } from "./context.ts";

/** What a first setup writes beside the answers; what is set already stays. */
export function writeUsual({ draft }: Setup): void {
  const { agents, messages, commands } = draft.config;
  const { defaults } = agents ?? {};
  draft.merge({
    agents: {
      defaults: {
        compaction: { mode: defaults?.compaction?.mode ?? "safeguard" },
        maxConcurrent: defaults?.maxConcurrent ?? 4,
        subagents: { maxConcurrent: defaults?.subagents?.maxConcurrent ?? 8 },
      },
    },
    messages: { ackReactionScope: messages?.ackReactionScope ?? "group-mentions" },
    commands: { native: commands?.native ?? "auto", nativeSkills: commands?.nativeSkills ?? "auto", restart: commands?.restart ?? true },
  });
}

/** Notes when and how the setup ran. */
export function stampRun({ draft, host }: Setup, command: string, mode: "local" | "remote"): void {
  draft.merge({ wizard: { lastRunAt: new Date(host.clock.now()).toISOString(), lastRunVersion: host.version, lastRunCommand: command, lastRunMode: mode } });
}
