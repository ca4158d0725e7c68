import type { ToolCallContent, ToolResultMessage } from "../../protocol/index.ts";
import { failedOutcome } from "../../tools/index.ts";
import type { ToolAnswer } from "../loop/ports.ts";
import type { TurnInput } from "./input.ts";
import type { PreparedTurn } from "./prepare.ts";

/** The process stops: the turn is left as it is. */
export class TurnLeft extends Error {}

/** Carries out the calls of a turn. */
export interface TurnTools {
  run(call: ToolCallContent, update: (partial: unknown) => void): Promise<ToolAnswer>;
  /** Whether a call may run beside others. */
  isParallel(call: ToolCallContent): boolean;
  /** Calls that whoever asked is to carry out. */
  readonly delegated: readonly ToolCallContent[];
  /** The last result, when it was a failure. */
  readonly failed: ToolResultMessage | undefined;
  /** A tool has told the user something already. */
  readonly delivered: boolean;
  note(result: ToolResultMessage): void;
}

/** Tools whose success the user sees by itself. */
const MESSAGING = new Set(["message", "sessions_send"]);

export function createTurnTools(
  input: TurnInput,
  { toolbox }: PreparedTurn,
  signals: { readonly run: AbortSignal; readonly stopping: AbortSignal },
): TurnTools {
  const own = new Set(toolbox.schemas.map(({ name }) => name));
  const clients = new Set((input.clientTools ?? []).map(({ name }) => name).filter((name) => !own.has(name)));
  const delegated: ToolCallContent[] = [];
  let failed: ToolResultMessage | undefined;
  let delivered = false;
  return {
    delegated,
    get failed() {
      return failed;
    },
    get delivered() {
      return delivered;
    },
    note(result) {
      failed = result.isError ? result : undefined;
      delivered ||= !result.isError && MESSAGING.has(result.toolName);
    },
    isParallel: ({ name }) => !clients.has(name) && toolbox.isParallel(name),
    async run(call, update) {
      if (call.argumentsError !== undefined) return failedOutcome(`${call.name} was not run: ${call.argumentsError}`);
      if (clients.has(call.name)) {
        delegated.push(call);
        return delegatedAnswer(call);
      }
      const outcome = await toolbox.run({ id: call.id, name: call.name, arguments: call.arguments, signal: signals.run, update });
      // What it did until then is not known: the intent stays without a result.
      if (signals.stopping.aborted) throw new TurnLeft("the process stops");
      return outcome;
    },
  };
}

function delegatedAnswer(call: ToolCallContent): ToolAnswer {
  const details = { status: "pending", tool: call.name, message: "Whoever asked carries out this call." };
  return { content: [{ type: "text", text: JSON.stringify(details, null, 2) }], details, isError: false, terminate: true };
}
