import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Config } from "../../config/index.ts";
import type { Budgets, CallResult, ModelEntry, Models, Selection } from "../../models/index.ts";
import type { ModelMessage, SessionEntry } from "../../protocol/index.ts";
import { createSessionMemory, thinkingLevel, usageAfterRun, view, viewSettings } from "../../sessions/index.ts";
import type { Store } from "../../store/index.ts";
import type { AnswerEnd, Answerer, AnswerEvent, Question } from "./answer.ts";

export interface ModelAnswererDeps {
  readonly store: Pick<Store, "read">;
  readonly clock: Clock;
  readonly config: Pick<Config, "current">;
  /** Opened when the first message is answered. */
  readonly models: () => Promise<Models>;
  readonly budgets: () => Promise<Pick<Budgets, "check">>;
  readonly log: Logger;
}

/** Has a model answer, with the conversation so far. Tools come with the agent. */
export function createModelAnswerer({ store, clock, config, models, budgets, log }: ModelAnswererDeps): Answerer {
  const memory = createSessionMemory({ store });

  async function prepare(question: Question) {
    const [opened, path, session] = await Promise.all([models(), memory.path(question.file), store.read("sessions.get", { key: question.sessionKey })]);
    const selection = await opened.select({ agentId: question.agentId, session: overridesOf(session?.entry) });
    const settings = viewSettings(config.current, question.sessionKey);
    const seen = view({ path: path.items, model: selection.entry, settings, now: clock.now() });
    const messages: ModelMessage[] = [...seen.messages, { role: "user", content: question.message, timestamp: clock.now() }];
    const thinking = thinkingLevel(config.current, session?.entry, { run: question.thinking, modelDefault: selection.thinking }).value;
    return { models: opened, selection, messages, thinking };
  }

  return {
    async *answer(question) {
      const { runId, agentId, sessionKey, sessionId, systemPrompt, signal } = question;
      const started = clock.monotonic();
      const { models: opened, selection, messages, thinking } = await prepare(question);
      const allowed = await (await budgets()).check({ agentId, provider: selection.entry.provider });
      if (allowed.state === "warn") log.warn(allowed.text, { sessionKey });
      if (allowed.state === "stop") {
        yield { type: "end", end: overBudget(selection.entry, allowed.text, clock.now()) } satisfies AnswerEvent;
        return;
      }
      const call = opened.call(agentId, {
        runId,
        agentId,
        sessionKey,
        sessionId,
        models: [selection.entry, ...selection.fallbacks],
        messages,
        thinking,
        signal,
        ...(systemPrompt === undefined ? {} : { systemPrompt }),
        ...(selection.params === undefined ? {} : { params: () => selection.params }),
      });
      for await (const event of call) {
        if (event.type === "text") yield { type: "delta", delta: event.delta } satisfies AnswerEvent;
        else if (event.type === "discard") yield { type: "discard" } satisfies AnswerEvent;
        else if (event.type === "done") yield { type: "end", end: endOf(question, selection, event.result, clock.monotonic() - started) };
      }
    },
  };
}

const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };

/** No call is made: the money for it is spent. */
function overBudget({ provider, id, api }: ModelEntry, error: string, timestamp: number): AnswerEnd {
  return {
    status: "failed",
    error,
    message: { role: "assistant", content: [], provider, model: id, api, usage: NO_USAGE, stopReason: "error", errorMessage: error, timestamp },
  };
}

/** What was chosen for this session. */
function overridesOf(entry: SessionEntry | undefined): { readonly providerOverride?: string; readonly modelOverride?: string } {
  const [provider, model] = [entry?.["providerOverride"], entry?.["modelOverride"]];
  return { ...(typeof provider === "string" ? { providerOverride: provider } : {}), ...(typeof model === "string" ? { modelOverride: model } : {}) };
}

function endOf(question: Question, selection: Selection, result: CallResult, durationMs: number): AnswerEnd {
  const { message } = result;
  const { usage, provider, model } = message;
  const status = result.ok ? "ok" : result.kind === "aborted" ? "aborted" : "failed";
  return {
    status,
    message,
    ...(result.ok || status === "aborted" ? {} : { error: result.text }),
    ...(result.ok ? { patch: usageAfterRun({ provider, model, contextTokens: selection.contextWindow.tokens, calls: [usage] }) } : {}),
    usage: {
      sessionKey: question.sessionKey,
      agentId: question.agentId,
      provider,
      model,
      input: usage.input,
      output: usage.output,
      cacheRead: usage.cacheRead,
      cacheWrite: usage.cacheWrite,
      cost: usage.cost.total,
      durationMs: Math.round(durationMs),
      failed: status === "failed",
      channel: question.channel,
      turnId: question.runId,
    },
  };
}
