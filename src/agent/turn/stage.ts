import type { HookLog } from "../../hooks/index.ts";
import type { Asking } from "./ask.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnInput, TurnPorts } from "./input.ts";
import type { PreparedTurn } from "./prepare.ts";
import type { TurnRecord } from "./record.ts";
import type { TurnTools } from "./tools-of-turn.ts";

/** Everything one turn works with. */
export interface Stage {
  readonly deps: TurnDeps;
  readonly input: TurnInput;
  readonly ports: TurnPorts;
  readonly turn: PreparedTurn;
  readonly record: TurnRecord;
  readonly tools: TurnTools;
  readonly asking: Asking;
  /** What plugins said. */
  readonly hookLog: HookLog;
  readonly startedAt: number;
  /** Fires when the run is stopped, and when the process stops. */
  readonly signal: AbortSignal;
}
