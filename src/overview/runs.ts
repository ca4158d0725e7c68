import type { Conversation } from "../conversation/index.ts";
import { agentOfKey, type MethodResult } from "../protocol/index.ts";
import type { Store } from "../store/index.ts";

type ShownRun = MethodResult<"overview">["runs"][number];

/** What runs now. */
export interface RunBoard extends Disposable {
  list(): Promise<readonly ShownRun[]>;
}

interface Followed {
  readonly sessionKey: string;
  readonly startedAt: number;
  doing: string;
  readonly tools: Map<string, string>;
}

export interface RunBoardDeps {
  readonly conversation: Pick<Conversation, "onEvent" | "chatOf">;
  readonly store: Pick<Store, "read">;
  readonly defaultAgentId: () => string;
}

const MOST_RUNS = 100;

/** Follows runs from their beginning to their end. */
export function createRunBoard({ conversation, store, defaultAgentId }: RunBoardDeps): RunBoard {
  const runs = new Map<string, Followed>();
  const listening = conversation.onEvent(({ runId, sessionKey }, event) => {
    if (event.stream === "lifecycle") {
      const { data } = event;
      if (data.phase === "start") runs.set(runId, { sessionKey, startedAt: data.startedAt, doing: "waits for the model", tools: new Map() });
      else runs.delete(runId);
      return;
    }
    const run = runs.get(runId);
    if (!run) return;
    if (event.stream === "tool") {
      const { phase, toolCallId, name } = event.data;
      if (phase === "result") run.tools.delete(toolCallId);
      else run.tools.set(toolCallId, name);
      run.doing = "waits for the model";
    } else if (event.stream === "compaction") run.doing = event.data.phase === "start" ? "sums up the conversation" : "waits for the model";
    else run.doing = event.stream === "thinking" ? "thinks" : "writes";
  });

  async function shown([runId, { sessionKey, startedAt, doing, tools }]: readonly [string, Followed]): Promise<ShownRun> {
    const entry = (await store.read("sessions.get", { key: sessionKey }))?.entry;
    const channel = conversation.chatOf(runId)?.address.channel;
    const named = typeof entry?.model === "string" ? entry.model : undefined;
    const provider = typeof entry?.modelProvider === "string" ? `${entry.modelProvider}/` : "";
    return {
      runId,
      sessionKey,
      agentId: agentOfKey(sessionKey, { defaultAgentId: defaultAgentId() }),
      startedAt,
      ...(channel === undefined ? {} : { channel }),
      ...(named === undefined ? {} : { model: `${provider}${named}` }),
      doing: tools.size > 0 ? `runs ${[...new Set(tools.values())].join(", ")}` : doing,
    };
  }

  return {
    list: () => Promise.all([...runs].slice(0, MOST_RUNS).map(shown)),
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}
