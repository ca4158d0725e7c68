import { AppError, messageOf } from "../base/errors.ts";
import type { OpenClawConfig, Snapshot } from "../config/index.ts";

/** Refuses to start where starting would surprise: without a configuration nobody asked to go without, or on one that is for another machine. */
export function checkStartGates(snapshot: Snapshot, config: OpenClawConfig, options: { readonly allowUnconfigured: boolean }): void {
  if (options.allowUnconfigured) return;
  const mode = config.gateway?.mode;
  if (mode === "local") return;
  if (mode !== undefined)
    throw new AppError(
      "CONFIG_INVALID",
      `Gateway start blocked: set gateway.mode=local (current: ${mode}) in ${snapshot.path}, or start with --allow-unconfigured`,
    );
  throw new AppError(
    "CONFIG_INVALID",
    snapshot.exists
      ? `Gateway start blocked: set gateway.mode=local (current: unset) in ${snapshot.path} (openclaw config set gateway.mode local), or start with --allow-unconfigured`
      : `Missing config. There is no ${snapshot.path}: run \`openclaw config set gateway.mode local\`, or start with --allow-unconfigured`,
  );
}

/** What this version cannot do yet is said at the start, not at the first use. */
export function checkSupported(config: OpenClawConfig): void {
  const url = config.store?.url;
  if (url !== undefined) throw new AppError("UNAVAILABLE", "store.url is set, but this version keeps its state in SQLite only; remove the key to start");
}

/** Why a gateway that runs would not start again with this configuration; undefined when it would. */
export function startRefusal(snapshot: Snapshot, options: { readonly allowUnconfigured: boolean }): string | undefined {
  try {
    checkStartGates(snapshot, snapshot.config, options);
    checkSupported(snapshot.config);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
