import { AppError, messageOf } from "../base/errors.ts";
import type { OpenClawConfig } from "./schema/index.ts";
import type { Snapshot } from "./snapshot.ts";

interface StartOptions {
  readonly allowUnconfigured: boolean;
}

/** Refuses to start a gateway without a configuration, on one for another machine, or on one that this version cannot serve. */
export function checkStart(snapshot: Snapshot, config: OpenClawConfig, { allowUnconfigured }: StartOptions): void {
  if (!allowUnconfigured) checkMode(snapshot, config.gateway?.mode);
  if (config.store?.url !== undefined)
    throw new AppError("UNAVAILABLE", "store.url is set, but this version keeps its state in SQLite only; remove the key to start");
}

function checkMode({ path, exists }: Snapshot, mode: NonNullable<OpenClawConfig["gateway"]>["mode"]): void {
  if (mode === "local") return;
  if (mode !== undefined)
    throw new AppError("CONFIG_INVALID", `Gateway start blocked: set gateway.mode=local (current: ${mode}) in ${path}, or start with --allow-unconfigured`);
  throw new AppError(
    "CONFIG_INVALID",
    exists
      ? `Gateway start blocked: set gateway.mode=local (current: unset) in ${path} (openclaw config set gateway.mode local), or start with --allow-unconfigured`
      : `Missing config. There is no ${path}: run \`openclaw config set gateway.mode local\`, or start with --allow-unconfigured`,
  );
}

/** Why a gateway that runs would not start again with this configuration; undefined when it would. */
export function startRefusal(snapshot: Snapshot, options: StartOptions): string | undefined {
  try {
    checkStart(snapshot, snapshot.config, options);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
