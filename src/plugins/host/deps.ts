import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { LoopMonitor } from "../../base/watchdog/loop-monitor.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { Store } from "../../store/index.ts";
import type { LoadedModule } from "../load/index.ts";
import type { PluginDiagnostic, PluginEntry } from "../record.ts";
import type { InjectionDeps, RegistryPorts } from "../registry/index.ts";
import type { GuardRecords } from "./guards.ts";

/** What the host needs from the program around it. */
export interface PluginHostDeps {
  readonly loader: { load(entry: PluginEntry, generation: number): Promise<LoadedModule>; pluginOf(error: unknown): string | undefined };
  /** Looks at what there is, now. */
  readonly inventory: () => Promise<{
    readonly entries: readonly PluginEntry[];
    readonly diagnostics: readonly PluginDiagnostic[];
    readonly workspaceDir?: string;
  }>;
  readonly ports: RegistryPorts;
  readonly store: Pick<Store, "read" | "write">;
  /** Remembers between starts which plugins guard tool calls. */
  readonly guardRecords?: GuardRecords | undefined;
  readonly config: () => OpenClawConfig;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "uuid">;
  readonly log: Logger;
  /** Notes which plugin's code runs, for who looks for what blocks the gateway. */
  readonly monitor?: LoopMonitor | undefined;
  readonly stateDir: string;
  readonly homeDir: string;
  /** `api.runtime` of one plugin. */
  readonly runtimeFor: (plugin: PluginEntry) => unknown;
  readonly canonicalKey: InjectionDeps["canonicalKey"];
}
