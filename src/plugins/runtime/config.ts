/** `runtime.config`: the configuration in use, and changes to its file that keep comments and order. */
import { isDeepStrictEqual } from "node:util";
import { AppError } from "../../base/errors.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { HostConfig } from "../../protocol/index.ts";
import type { RuntimeConfig } from "../sdk/types/index.ts";
import type { RuntimeOwner, RuntimePorts } from "./ports.ts";

/** How often a change is made again because the file changed under it. */
const MAX_ATTEMPTS = 5;

export function createConfig({ config }: RuntimePorts, owner: RuntimeOwner): RuntimeConfig {
  /** What the plugin was given last: what it writes is compared with that, so that changes of others since then stay. */
  let handedOut = config.current;
  /** A copy: what a plugin does to it changes nothing. */
  const current = (): HostConfig => structuredClone((handedOut = config.current));

  async function write(next: HostConfig, baseHash?: string): Promise<HostConfig> {
    if (typeof next !== "object" || next === null || Array.isArray(next)) throw new AppError("INVALID_INPUT", "the configuration to write must be an object");
    await config.edit(
      { kind: "update", config: next as OpenClawConfig, base: handedOut },
      { by: `plugin ${owner.id}`, baseHash, requireBaseHash: baseHash !== undefined },
    );
    return current();
  }

  return {
    loadConfig: current,
    current,
    async writeConfigFile(next) {
      await write(next);
    },
    async mutateConfigFile({ mutate }) {
      for (let attempt = 1; ; attempt += 1) {
        const { hash } = config.snapshot();
        const draft = current();
        const before = structuredClone(draft);
        const next = (await mutate(draft)) ?? draft;
        if (isDeepStrictEqual(before, next)) return { changed: false, config: before };
        try {
          return { changed: true, config: await write(next, hash) };
        } catch (error) {
          // Somebody else changed the file meanwhile: the change is made to what they left.
          if (!(error instanceof AppError) || error.code !== "CONFIG_STALE" || attempt === MAX_ATTEMPTS) throw error;
          config.reload();
        }
      }
    },
    async replaceConfigFile({ nextConfig }) {
      return { changed: true, config: await write(nextConfig) };
    },
  };
}
