import type { SandboxPlan } from "../backend.ts";
import { insideEnvironment } from "../environment.ts";
import { containerName } from "../scope.ts";
import { configHash, createArgs } from "./create-args.ts";
import { createUpkeep, type UpkeepDeps } from "./upkeep.ts";

const SETUP_MS = 10 * 60_000;

/** The life of containers: made at first use, started again, made again for other settings, removed when they are idle or old. */
export interface Containers {
  nameOf(plan: SandboxPlan): string;
  /** Callers at the same time wait for the same one. */
  ensure(plan: SandboxPlan): Promise<void>;
}

export function createContainers({ clock, cli, registry, warn }: UpkeepDeps): Containers {
  const upkeep = createUpkeep({ clock, cli, registry, warn }, "containers");
  const making = new Map<string, Promise<void>>();

  const nameOf = (plan: SandboxPlan): string => containerName(plan.settings.docker.containerPrefix, plan.scope);

  async function create(name: string, plan: SandboxPlan, hash: string): Promise<void> {
    const { docker } = plan.settings;
    await cli.image(docker.image);
    const labels = { scopeKey: plan.scope.key, createdAtMs: clock.now(), configHash: hash };
    await cli.must(createArgs(name, plan, insideEnvironment(docker.env, warn), labels), `could not create the container ${name}`, SETUP_MS);
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
    await upkeep.prune(plan.settings.prune, name);
    let state = await cli.state(name);
    let kept = registry.list().find((entry) => entry.containerName === name);
    if (state !== "absent" && upkeep.isOutdated(name, hash, state === "running")) {
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
