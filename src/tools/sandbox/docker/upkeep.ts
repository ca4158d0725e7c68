import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { SandboxPlan } from "../backend.ts";
import type { DockerCli } from "./docker-cli.ts";
import type { ContainerKind, ContainerRegistry } from "./registry.ts";

const PRUNE_EVERY_MS = 5 * 60_000;
/** A container that was used a moment ago is not taken away from its user. */
const HOT_MS = 5 * 60_000;
const HOUR_MS = 3_600_000;

export interface UpkeepDeps {
  readonly clock: Pick<Clock, "now">;
  readonly cli: DockerCli;
  readonly registry: ContainerRegistry;
  readonly warn: (text: string) => void;
}

/** When containers of one kind go: idle or old ones, and those that were made for other settings. */
export interface Upkeep {
  /** Removes idle and old ones, at most every five minutes. A failure about `keep` is the caller's. */
  prune(rules: SandboxPlan["settings"]["prune"], keep: string): Promise<void>;
  /** True when it has to be made again for its settings. */
  isOutdated(name: string, hash: string, running: boolean): boolean;
}

export function createUpkeep({ clock, cli, registry, warn }: UpkeepDeps, kind: ContainerKind): Upkeep {
  let prunedAt = Number.NEGATIVE_INFINITY;
  return {
    async prune({ idleHours, maxAgeDays }, keep) {
      const now = clock.now();
      if (now - prunedAt < PRUNE_EVERY_MS) return;
      prunedAt = now;
      for (const { containerName: name, lastUsedAtMs, createdAtMs } of registry.list(kind)) {
        const idle = idleHours > 0 && now - lastUsedAtMs > idleHours * HOUR_MS;
        const old = maxAgeDays > 0 && now - createdAtMs > maxAgeDays * 24 * HOUR_MS;
        if (!idle && !old) continue;
        try {
          await cli.remove(name);
          registry.remove(name, kind);
        } catch (error) {
          if (name === keep) throw error;
          warn(messageOf(error));
        }
      }
    },
    isOutdated(name, hash, running) {
      const entry = registry.list(kind).find((found) => found.containerName === name);
      if (entry?.configHash === hash) return false;
      if (!running || !entry || clock.now() - entry.lastUsedAtMs >= HOT_MS) return true;
      const flag = kind === "browsers" ? "--browser " : "";
      warn(`the settings of ${name} changed while it is in use; to recreate it now: openclaw sandbox recreate ${flag}--session ${entry.sessionKey}`);
      return false;
    },
  };
}
