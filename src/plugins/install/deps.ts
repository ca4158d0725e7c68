import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { ConfigEdit, Env } from "../../config/index.ts";
import type { HookCall, HookOutcome } from "../../hooks/index.ts";
import type { InstallLimits } from "./limits.ts";

/** The `before_install` handlers of plugins. */
export interface InstallHooks {
  has(hook: "before_install"): boolean;
  run(
    hook: "before_install",
    event: HookCall<"before_install">["event"],
    ctx: HookCall<"before_install">["ctx"],
  ): HookOutcome<"before_install"> | undefined | Promise<HookOutcome<"before_install"> | undefined>;
}

/** What installing needs from the program around it. */
export interface InstallDeps {
  readonly stateDir: string;
  /** The configuration as it is written, with includes and variables put in. Read again at every call. */
  readonly config: () => unknown;
  /** Changes the configuration's file. */
  readonly edit: (edit: ConfigEdit) => Promise<void>;
  readonly env: Env;
  readonly cwd: string;
  readonly home: string;
  readonly pid: number;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "hex">;
  /** Asked about what comes in. Without them `before_install` is not asked, and the operator's policy alone decides. */
  readonly hooks?: InstallHooks | undefined;
  /**
   * Loads a staged plugin that is to replace one, outside of this process. Gives why it cannot be loaded; undefined when it can, or when settings have to be
   * made first. Without it nothing is tried.
   */
  readonly tryStaged?: ((folder: string, ids: readonly string[]) => Promise<string | undefined>) | undefined;
  /** Receives each step as it starts. */
  readonly onStep?: ((what: string) => void) | undefined;
  /** Asks the user. */
  readonly confirm: (question: string) => Promise<boolean>;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: InstallLimits | undefined;
}
