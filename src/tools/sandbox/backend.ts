import type { FileMount } from "../sandbox-files.ts";
import type { SandboxScope } from "./scope.ts";
import type { SandboxSettings } from "./settings.ts";

/** One sandbox as it should be. */
export interface SandboxPlan {
  readonly settings: SandboxSettings;
  readonly scope: SandboxScope;
  readonly mounts: readonly [FileMount, ...FileMount[]];
  /** The agent's workspace, on the host. */
  readonly workspaceDir: string;
}

/** A command as it is to run inside. */
export interface InsideCommand {
  /** Program and arguments. */
  readonly argv: readonly [string, ...string[]];
  /** Folder inside. */
  readonly cwd: string;
  /** Variables that the call sets. */
  readonly env: Readonly<Record<string, string>>;
  readonly path: string;
}

/** What to start on this machine so that the command runs inside. */
export interface OutsideCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the started program. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called when it was started; `kill` ends it with all that it started. Disposed of at its end. */
  readonly attend?: (pid: number, kill: () => void) => Disposable;
  /** Ends what it started inside, where the death of the started program does not. */
  readonly killInside?: () => Promise<void>;
}

/** A browser that runs inside. */
export interface SandboxBrowser {
  /** Names its sandbox; letters, digits, dots and dashes. */
  readonly id: string;
  /** Its control port, on the loopback interface of this machine. */
  readonly cdpUrl: string;
  /** A page that shows its screen. */
  readonly screenUrl?: string;
}

export type Availability = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** A way to keep commands apart from this machine. */
export interface SandboxBackend {
  /** In front of the command: program and arguments that take a script. */
  readonly shell: readonly string[];
  /** PATH inside. */
  readonly path: string;
  /** True when the programs on that path are this machine's own. */
  readonly hostPrograms?: boolean;
  /** Whether it works here. It is tried, not guessed. */
  availability(plan: SandboxPlan): Promise<Availability>;
  /** Makes the sandbox as far as it is not there. Throws when it cannot be made. */
  prepare(plan: SandboxPlan): Promise<void>;
  command(plan: SandboxPlan, command: InsideCommand): OutsideCommand;
  /** The sandbox's browser, started as far as it does not run. Absent where there is none. */
  readonly browser?: (plan: SandboxPlan) => Promise<SandboxBrowser>;
  /** Where its screen was seen last. */
  readonly screenUrl?: (plan: SandboxPlan) => string | undefined;
}
