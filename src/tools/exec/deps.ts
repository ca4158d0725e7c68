import type { SealedFiles } from "./reach.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { CommandOutcome } from "../../store/index.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { Processes } from "../process/processes.ts";
import type { Sandbox } from "../sandbox/sandboxes.ts";
import type { ToolContext } from "../tool.ts";
import type { ExecHost } from "./environment.ts";
import type { RememberedCommands } from "./remember/remembered.ts";
import type { ExecRules } from "./rules-file.ts";
import type { ExecSettings } from "./settings.ts";
import type { WithheldHints } from "./withheld.ts";
import type { NodeRunner } from "./on-node.ts";

/** Whether commands may leave the sandbox at this sender's word, and how; the reason when they may not. */
export type Elevation = { readonly permitted: true; readonly level: "off" | "on" | "ask" | "full" } | { readonly permitted: false; readonly reason: string };

/** A command that needed approval, and its session. */
export interface AskedCommand {
  readonly id: string;
  readonly sessionKey: string;
  readonly command: string;
  /** Where it ran, if not on the gateway. */
  readonly node?: string;
  /** What `origin` gave when it was asked. */
  readonly origin: Readonly<Record<string, unknown>>;
}

/** Shows what a command writes while it runs. */
export interface ShownOutput extends Disposable {
  /** There is more. */
  changed(): void;
}

/** The end of a command in the background. */
export interface CommandEnd {
  /** Whether the agent has been shown it. */
  isSeen(): boolean;
}

export interface ExecToolDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly processes: Processes;
  readonly approvals: Approvals;
  readonly rules: ExecRules;
  readonly remembered: RememberedCommands;
  readonly settings: (context: ToolContext) => ExecSettings;
  /** The gateway's own environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the `openclaw` command is, so that commands on this machine find it. */
  readonly programFolder?: string | undefined;
  /** Explains what commands do not inherit. */
  readonly hints?: WithheldHints | undefined;
  readonly home: string;
  readonly ignoreCase: boolean;
  /** True when the session must run inside a sandbox. */
  readonly sandboxed: (context: ToolContext) => boolean;
  /** The sandbox of such a session. Without one nothing runs. */
  readonly sandbox?: ((context: ToolContext) => Sandbox | undefined) | undefined;
  /** Variables that plugins add to a command on this host, filtered. They are part of its plan. */
  readonly pluginEnvironment?: ((context: ToolContext, host: ExecHost) => Promise<Readonly<Record<string, string>>>) | undefined;
  /** Names of programs that the skills of a session ask for; asked only where the rules let those run unasked. */
  readonly skillPrograms?: ((context: ToolContext) => Promise<readonly string[]>) | undefined;
  /** Files that no tool may read. */
  readonly sealed?: ((context: ToolContext) => SealedFiles) | undefined;
  /** False when policy keeps `process` away: nothing may go to the background then. */
  readonly canBackground: (context: ToolContext) => boolean;
  readonly elevation: (context: ToolContext) => Elevation;
  /** Tells a session's next turn what happened meanwhile. With the end of a command the session acts on it by itself, unless it has seen the end before. */
  readonly announce: (context: ToolContext, text: string, end?: CommandEnd) => void;
  /** What a session needs to go on where it was asked, kept with the question. */
  readonly origin?: ((context: ToolContext) => Readonly<Record<string, unknown>>) | undefined;
  /** Has a session go on with what became of a command: it is accepted, as a message is, when this resolves. Without it only the next turn is notified. */
  readonly goOn?: ((asked: AskedCommand, outcome: CommandOutcome) => Promise<void>) | undefined;
  /** Runs commands on nodes. Without it there are none. */
  readonly nodes?: NodeRunner | undefined;
  readonly show?: ((id: string, sessionKey: string, tail: () => string) => ShownOutput) | undefined;
}
