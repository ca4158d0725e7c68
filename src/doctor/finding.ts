import type { DoctorDeps } from "./deps.ts";

/** From nothing to say to something that keeps the gateway from its work. */
export type Level = "ok" | "info" | "warn" | "error";

/** What can be done about a finding here and now. */
export interface Repair {
  /** What it will do, as the end of "shall I …?". */
  readonly summary: string;
  /** It moves or adds, and takes nothing away: done without asking by `--non-interactive` too. */
  readonly safe: boolean;
  /** It replaces what was written by hand: done with `--force` only. */
  readonly force?: boolean;
  /** Returns what it did. When it is killed on the way nothing is lost, and the next run goes on. */
  apply(): string | Promise<string>;
}

export interface Finding {
  /** Distinguishes findings of one check; part of the id that is shown. */
  readonly part?: string;
  readonly level: Level;
  readonly text: string;
  /** What the user can do about it. */
  readonly todo?: string;
  readonly repair?: Repair;
}

/** Groups of checks, in the order in which they are made and shown. */
export const TOPICS = {
  program: "Program",
  config: "Configuration",
  models: "Models",
  state: "State",
  sandbox: "Sandbox",
  service: "Service",
  access: "Access",
  workspace: "Workspace",
  gateway: "Gateway",
} as const;

export type Topic = keyof typeof TOPICS;

/** One thing that is looked at. */
export interface Check {
  /** Never changes: scripts and the documentation name it. */
  readonly id: string;
  readonly topic: Topic;
  readonly title: string;
  /** Nothing found: it is well. */
  run(deps: DoctorDeps): readonly Finding[] | Promise<readonly Finding[]>;
}
