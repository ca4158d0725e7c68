import type { EventPayload, HelloOk } from "../../../../protocol/index.ts";
import type { Input } from "../terminal/decoder.ts";
import type { Entry } from "./entry.ts";
import type { Found, Picker } from "./picker.ts";
import type { Agent, Approval, CommandInfo, Facts } from "./state.ts";

/** A run as the gateway shows it to who comes later. */
export interface ShownRun {
  readonly runId: string;
  readonly startedAt: number;
  readonly text?: string | undefined;
}

/** Everything that can happen. */
export type TuiEvent =
  | Input
  | { readonly type: "connected"; readonly hello: HelloOk; readonly url: string }
  | { readonly type: "lost"; readonly why: string; readonly retryAt: number }
  /** Events did not come. */
  | { readonly type: "gap" }
  | { readonly type: "chat"; readonly payload: EventPayload<"chat"> }
  | { readonly type: "agent"; readonly payload: EventPayload<"agent"> }
  | { readonly type: "changed"; readonly sessionKey: string }
  | { readonly type: "asked"; readonly approval: Approval }
  | { readonly type: "decided"; readonly id: string; readonly decision: string; readonly by: string | undefined }
  | { readonly type: "history"; readonly sessionKey: string; readonly read: number; readonly entries: readonly Entry[]; readonly runs: readonly ShownRun[] }
  | { readonly type: "facts"; readonly sessionKey: string; readonly facts: Facts; readonly ts: number }
  | { readonly type: "agents"; readonly agents: readonly Agent[] }
  | { readonly type: "commands"; readonly commands: readonly CommandInfo[] }
  | { readonly type: "approvals"; readonly approvals: readonly Approval[] }
  | ({ readonly type: "items"; readonly kind: Picker["kind"] } & Found)
  | { readonly type: "accepted"; readonly runId: string; readonly ended: boolean }
  | { readonly type: "refused"; readonly runId: string; readonly error: string }
  /** A setting was changed, or the session was reset. */
  | { readonly type: "changed-session"; readonly text: string }
  /** What the gateway answered to a question of the user. */
  | { readonly type: "answered"; readonly text: string }
  /** Something happened to a sub-agent. */
  | { readonly type: "subagents" }
  /** Something happened to a scheduled job. */
  | { readonly type: "jobs" }
  | { readonly type: "undecided"; readonly id: string; readonly error: string }
  | { readonly type: "failed"; readonly error: string }
  | { readonly type: "shell-ended"; readonly command: string; readonly output: string; readonly failure: string | undefined }
  | { readonly type: "tick" };
