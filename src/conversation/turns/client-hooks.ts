import type { HookLogEntry } from "../../hooks/index.ts";
import { createHookNotes } from "../intake/hook-notes.ts";
import { messageContext } from "../intake/message-context.ts";
import { createPluginWords } from "../intake/plugin-words.ts";
import type { ConversationDeps } from "../ports.ts";
import { answerDirectly } from "./client-commands.ts";
import { clientMessage } from "./client-message.ts";
import type { ClientTurnContext } from "./client-turn.ts";
import type { RunOutcome } from "./contract.ts";
import type { ClientRun } from "./run.ts";

/** What plugins do with a client's message before its turn: the same hooks, in the same order, as for messages of channels. */
interface ClientHooks {
  /** `message_received`, then `inbound_claim`. How the run ended, when a plugin took it. */
  claimed(run: ClientRun): Promise<RunOutcome | undefined>;
  /** `before_dispatch`: changes the run's text, or says how the run ended because a plugin dealt with it. */
  dispatched(run: ClientRun): Promise<RunOutcome | undefined>;
  /** What plugins said about it so far. */
  said(run: ClientRun): readonly HookLogEntry[];
  forget(run: ClientRun): void;
}

export function createClientHooks(deps: ConversationDeps, context: Pick<ClientTurnContext, "emit">): ClientHooks {
  const notes = createHookNotes(deps.hooks, deps.clock.now);
  const words = createPluginWords(deps, notes);
  const rowOf = (run: ClientRun): readonly [{ readonly id: number }] => [{ id: run.row.inboxId }];
  return {
    async claimed(run) {
      const message = clientMessage(run.row, deps.clock.now());
      words.received(message);
      const verdict = await words.claimed(message);
      return verdict && answerDirectly(deps, run.row, { verdict, hooks: notes.of(rowOf(run)) }, context);
    },
    async dispatched(run) {
      if (!deps.hooks.has("before_dispatch")) return undefined;
      const message = clientMessage({ ...run.row, message: run.text }, deps.clock.now());
      const verdict = await words.dispatched(message, messageContext(message), run.text);
      if (typeof verdict !== "string") return answerDirectly(deps, run.row, { verdict, hooks: notes.of(rowOf(run)) }, context);
      run.text = verdict;
      return undefined;
    },
    said: (run) => notes.of(rowOf(run)),
    forget: (run) => notes.forget(rowOf(run)),
  };
}

/** `message_received` for a message that becomes no run. */
export function tellReceived(deps: ConversationDeps, message: Parameters<typeof clientMessage>[0]): void {
  createPluginWords(deps, createHookNotes(deps.hooks, deps.clock.now)).received(clientMessage(message, deps.clock.now()));
}
