import type { SessionNaming } from "../../../../protocol/index.ts";
import { type Editor, EMPTY } from "./editor.ts";
import type { Entry } from "./entry.ts";
import type { JobAction, Picker } from "./picker.ts";
import { GATEWAY_COMMANDS, mergeCommands } from "./own-commands.ts";

/** The connection, as it is shown. */
export type Link = { readonly kind: "connecting" } | { readonly kind: "open" } | { readonly kind: "lost"; readonly why: string; readonly retryAt: number };

/** What is known about the session besides its messages. */
export interface Facts {
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly thinking?: string | undefined;
  readonly verbose?: string | undefined;
  readonly reasoning?: string | undefined;
  readonly usage?: string | undefined;
  readonly totalTokens?: number | undefined;
  readonly contextTokens?: number | undefined;
}

/** A message of this terminal until the history has it. */
export interface Sent {
  /** Also the idempotency key: however often it is sent, it counts once. */
  readonly runId: string;
  readonly sessionKey: string;
  readonly text: string;
  /** The gateway's time. */
  readonly at: number;
  /** Time of the newest entry when it was sent: its own is newer. */
  readonly after: number;
  readonly state: "sending" | "accepted" | "failed";
  readonly error?: string | undefined;
  /** Readings of the history that were begun when its run ended: a later one has all of it. */
  readonly ended?: number | undefined;
}

/** A part of a run under way, in the order in which it came. */
export type Segment =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string }
  | {
      readonly kind: "tool";
      readonly id: string;
      readonly name: string;
      readonly args: unknown;
      readonly output: string;
      readonly status: "running" | "done" | "failed";
      readonly startedAt: number;
      readonly endedAt?: number | undefined;
    };

export interface Run {
  readonly runId: string;
  readonly startedAt: number;
  readonly segments: readonly Segment[];
  readonly compacting?: boolean;
  readonly outcome?: { readonly kind: "final" | "aborted" | "error"; readonly text?: string | undefined } | undefined;
  readonly ended?: number | undefined;
}

/** Something that only this terminal knows: what a command of its own answered. */
export interface Note {
  readonly at: number;
  readonly tone: "plain" | "warn" | "error";
  readonly text: string;
  /** A command that ran on this machine. */
  readonly command?: string;
}

/** A command that waits for approval. */
export interface Approval {
  readonly id: string;
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly host?: string | undefined;
  readonly resolvedPath?: string | undefined;
  /** Variables that it is started with. */
  readonly environment?: string | undefined;
  /** What "always" would store. */
  readonly always?: string | undefined;
  readonly agentId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly expiresAt: number;
  /** The decision was sent. */
  readonly deciding?: Decision | undefined;
}

export const DECISIONS = ["allow-once", "allow-always", "deny"] as const;
export type Decision = (typeof DECISIONS)[number];

/** A command that a message may begin with. */
export interface CommandInfo {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly description: string;
  readonly choices: readonly string[];
}

export interface Agent {
  readonly id: string;
  readonly name?: string | undefined;
}

export interface Preferences {
  readonly deliver: boolean;
  /** For each message, where the session has no setting. */
  readonly thinking?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly historyLimit: number;
}

export interface State {
  readonly url: string;
  readonly link: Link;
  readonly connections: number;
  readonly naming: SessionNaming;
  /** Methods that the gateway has. */
  readonly methods: ReadonlySet<string>;
  readonly agents: readonly Agent[];
  readonly sessionKey: string;
  readonly facts: Facts;
  readonly preferences: Preferences;
  /** The gateway's clock less ours, in milliseconds. */
  readonly skew: number;
  readonly history: readonly Entry[];
  /** Readings of the history that were begun. */
  readonly reads: number;
  /** The newest reading that came. */
  readonly read: number;
  /** Something changed while a reading was under way: another has to follow it. */
  readonly stale?: boolean;
  readonly sent: readonly Sent[];
  readonly runs: readonly Run[];
  readonly notes: readonly Note[];
  readonly approvals: readonly Approval[];
  /** The approval that the keys are for. */
  readonly focus?: { readonly id: string; readonly choice: number } | undefined;
  readonly editor: Editor;
  /** Earlier messages, oldest first. */
  readonly past: readonly string[];
  /** Position in `past`, and the text that was being written before. */
  readonly recall?: { readonly at: number; readonly draft: string } | undefined;
  readonly commands: readonly CommandInfo[];
  /** A command that was taken for a misspelling: entered once more it is sent. */
  readonly refused?: string | undefined;
  readonly completion?: { readonly selected: number; readonly touched: boolean } | undefined;
  readonly picker?: Picker | undefined;
  readonly show: { readonly tools: boolean; readonly thinking: boolean };
  readonly mouse: boolean;
  /** The first line of the log that is shown; undefined follows its end. */
  readonly top?: number | undefined;
  /** `!` was allowed; a question about it holds the command. */
  readonly shell: { readonly allowed: boolean; readonly running?: string | undefined };
  readonly aborting: boolean;
  /** When Ctrl+C was pressed on an empty input. */
  readonly armedAt?: number | undefined;
  readonly leaving: boolean;
}

/** The gateway is to do something, or this machine. */
export type Effect =
  | { readonly kind: "send"; readonly sent: Sent; readonly preferences: Preferences }
  | { readonly kind: "abort"; readonly sessionKey: string }
  | { readonly kind: "history"; readonly sessionKey: string; readonly read: number; readonly limit: number; readonly paged: boolean }
  | { readonly kind: "facts"; readonly sessionKey: string }
  | { readonly kind: "agents" }
  | { readonly kind: "commands"; readonly agentId: string }
  | { readonly kind: "approvals" }
  | { readonly kind: "watch"; readonly sessionKey: string }
  | { readonly kind: "pick"; readonly what: "models" | "agents" | "sessions" | "subagents" | "jobs"; readonly search?: string; readonly limit?: number }
  | { readonly kind: "heartbeat" }
  | { readonly kind: "job"; readonly action: JobAction; readonly id: string; readonly name: string; readonly key: string }
  | { readonly kind: "stop-subagent"; readonly sessionKey: string; readonly key: string }
  | { readonly kind: "steer-subagent"; readonly sessionKey: string; readonly message: string; readonly key: string }
  | { readonly kind: "patch"; readonly sessionKey: string; readonly field: string; readonly value: string | null }
  | { readonly kind: "reset"; readonly sessionKey: string; readonly reason: "new" | "reset" }
  | { readonly kind: "decide"; readonly id: string; readonly decision: Decision }
  | { readonly kind: "shell"; readonly command: string }
  | { readonly kind: "stop-shell" }
  | { readonly kind: "mouse"; readonly on: boolean }
  | { readonly kind: "suspend" }
  | { readonly kind: "exit" };

/** A state, and what is to be done because of it. */
export interface Next {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** What changes from call to call and is no state. */
export interface Context {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly newId: () => string;
  /** Of the log, when it was drawn last. */
  readonly layout: { readonly lines: number; readonly height: number };
}

export const only = (state: State): Next => ({ state, effects: [] });
export const and = (state: State, ...effects: readonly Effect[]): Next => ({ state, effects });

/** Before there is a connection. `sessionKey` as it was written; the gateway knows what it stands for. */
export function initialState(start: { readonly url: string; readonly sessionKey: string; readonly preferences: Preferences }): State {
  return {
    ...start,
    link: { kind: "connecting" },
    connections: 0,
    naming: { defaultAgentId: "main" },
    methods: new Set(),
    agents: [],
    facts: {},
    skew: 0,
    history: [],
    reads: 0,
    read: 0,
    sent: [],
    runs: [],
    notes: [],
    approvals: [],
    editor: EMPTY,
    past: [],
    commands: mergeCommands(GATEWAY_COMMANDS),
    show: { tools: false, thinking: false },
    mouse: false,
    shell: { allowed: false },
    aborting: false,
    leaving: false,
  };
}
