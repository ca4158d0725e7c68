import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { SandboxPlan } from "../backend.ts";
import { insideEnvironment } from "../environment.ts";
import { containerName } from "../scope.ts";
import { configHash, createArgs } from "./create-args.ts";
import type { DockerCli } from "./docker-cli.ts";
import type { ContainerRegistry } from "./registry.ts";

const PRUNE_EVERY_MS = 5 * 60_000;
/** A container that was used a moment ago is not taken away from its user. */
const HOT_MS = 5 * 60_000;
const SETUP_MS = 10 * 60_000;
const HOUR_MS = 3_600_000;

export interface ContainersDeps {
  readonly clock: Pick<Clock, "now">;
  readonly cli: DockerCli;
  readonly registry: ContainerRegistry;
  readonly warn: (text: string) => void;
}

/** The life of containers: made at first use, started again, made again for other settings, removed when they are idle or old. */
export interface Containers {
  nameOf(plan: SandboxPlan): string;
  /** Callers at the same time wait for the same one. */
  ensure(plan: SandboxPlan): Promise<void>;
}

export function createContainers({ clock, cli, registry, warn }: ContainersDeps): Containers {
  const making = new Map<string, Promise<void>>();
  let prunedAt = Number.NEGATIVE_INFINITY;

  const nameOf = (plan: SandboxPlan): string => containerName(plan.settings.docker.containerPrefix, plan.scope);

  async function prune({ idleHours, maxAgeDays }: SandboxPlan["settings"]["prune"], keep: string): Promise<void> {
    const now = clock.now();
    if (now - prunedAt < PRUNE_EVERY_MS) return;
    prunedAt = now;
    for (const { containerName: name, lastUsedAtMs, createdAtMs } of registry.list()) {
      const idle = idleHours > 0 && now - lastUsedAtMs > idleHours * HOUR_MS;
      const old = maxAgeDays > 0 && now - createdAtMs > maxAgeDays * 24 * HOUR_MS;
      if (!idle && !old) continue;
      try {
        await cli.remove(name);
        registry.remove(name);
      } catch (error) {
        if (name === keep) throw error;
        warn(messageOf(error));
      }
    }
  }

  /** True when it has to be made again for its settings. */
  function isOutdated(name: string, hash: string, running: boolean): boolean {
    const entry = registry.list().find((found) => found.containerName === name);
    if (entry?.configHash === hash) return false;
    if (!running || !entry || clock.now() - entry.lastUsedAtMs >= HOT_MS) return true;
    warn(`the settings of ${name} changed while it is in use; to make it again now: openclaw sandbox recreate --session ${entry.sessionKey}`);
    return false;
  }

  async function create(name: string, plan: SandboxPlan, hash: string): Promise<void> {
    const { docker } = plan.settings;
    await cli.image(docker.image);
    const labels = { scopeKey: plan.scope.key, createdAtMs: clock.now(), configHash: hash };
    await cli.must(createArgs(name, plan, insideEnvironment(docker.env, warn), labels), `could not make the container ${name}`, SETUP_MS);
    await cli.must(["start", name], `could not start the container ${name}`);
    if (!docker.setupCommand?.trim()) return;
    try {
      await cli.must(["exec", "-i", name, "sh", "-lc", docker.setupCommand], "the sandbox's setupCommand failed", SETUP_MS);
    } catch (error) {
      // A container that was set up by half would be taken for a good one the next time.
      await cli.remove(name).catch(() => undefined);
      throw error;
    }
  }

  async function make(plan: SandboxPlan): Promise<void> {
    const name = nameOf(plan);
    const hash = configHash(plan);
    await prune(plan.settings.prune, name);
    let state = await cli.state(name);
    let kept = registry.list().find((entry) => entry.containerName === name);
    if (state !== "absent" && isOutdated(name, hash, state === "running")) {
      await cli.remove(name);
      state = "absent";
    }
    if (state === "absent") {
      registry.remove(name);
      kept = undefined;
      await create(name, plan, hash);
    } else if (state === "stopped") await cli.must(["start", name], `could not start the container ${name}`);
    const now = clock.now();
    const { image } = plan.settings.docker;
    registry.put({ containerName: name, sessionKey: plan.scope.key, createdAtMs: now, lastUsedAtMs: now, image, configHash: kept?.configHash ?? hash });
  }

  return {
    nameOf,
    async ensure(plan) {
      const name = nameOf(plan);
      const running = making.get(name) ?? make(plan).finally(() => making.delete(name));
      making.set(name, running);
      await running;
    },
  };
}
