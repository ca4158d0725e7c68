import type { ModelMessage, ToolSchema } from "../../protocol/index.ts";
import { estimateTokens, imagesLeftOutEntry, tokensOfChars, view, viewSettings, type View } from "../../sessions/index.ts";
import { compactionDue, compactionSettings } from "../compaction/index.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnInput, TurnPorts } from "./input.ts";
import type { PreparedTurn } from "./prepare.ts";
import type { TurnRecord } from "./record.ts";
import { createRequestFit, type Size } from "./request-fit.ts";
import { createRoomMaker } from "./room-maker.ts";

/** Below these shares of the window a conversation is not measured: a count includes the system prompt and the tools, a guess does not. */
const FAR_COUNTED = 0.4;
const FAR_GUESSED = 0.1;
/** A request that was made smaller has to be at least so much smaller to be worth another try. */
const LEAST_GAIN = 0.95;
/** After a compaction that gained nothing, the next one waits until the conversation has grown by this. */
const FUTILE_GROWTH = 1.15;

interface ContextStage {
  readonly turn: PreparedTurn;
  readonly record: TurnRecord;
  readonly signal: AbortSignal;
  readonly emit: TurnPorts["emit"];
  readonly tools: readonly ToolSchema[];
}

/** What a model is sent of a conversation: as much as fits its window. */
export interface TurnContext {
  /** As it is sent. */
  readonly systemPrompt: string;
  /** What is sent of the conversation; it is summed up before, when that is due. */
  fitting(messages: readonly ModelMessage[]): Promise<readonly ModelMessage[]>;
  /** After the provider refused what was sent: what is sent next, or undefined when nothing can be made smaller. */
  smaller(sent: readonly ModelMessage[], messages: readonly ModelMessage[], kind: string): Promise<readonly ModelMessage[] | undefined>;
  /** Reports to the user what was left out since it was last called. */
  reportLeftOut(): void;
}

export function createContext(deps: TurnDeps, input: TurnInput, { turn, record, signal, emit, tools }: ContextStage): TurnContext {
  const { chosen, place } = turn;
  const window = chosen.selection.contextWindow.tokens;
  const fit = createRequestFit({ window, systemPrompt: turn.systemPrompt, tools });
  const agentsFile = turn.files.find(({ name }) => name === "AGENTS.md")?.content;
  const room = createRoomMaker(deps, {
    ...turn,
    ...place,
    input,
    agentsFile,
    signal,
    measure: fit.measure,
    append: (drafts, writes) =>
      record.now(drafts, [...writes, ["journal.append", { turnId: input.runId, kind: "compaction", data: { ms: deps.clock.now() - summingSince } }]]),
  });
  let summingSince = 0;
  let first = true;
  /** Nothing was gained by summing up at this size: below it there is no point in trying again. */
  let futileBelow = 0;

  /** The whole conversation through the one function that makes it fit, as long as the transcript has all of it. */
  async function current(messages: readonly ModelMessage[]): Promise<{ readonly messages: readonly ModelMessage[]; readonly size: Size }> {
    if (first || record.withheld) return { messages, size: sizeOf(turn, messages) };
    const path = await deps.session.path(place.file);
    const settings = viewSettings(deps.config.current, input.sessionKey);
    const seen = view({ path: path.items, model: chosen.selection.entry, settings, now: deps.clock.now(), memo: deps.session.view });
    return { messages: [...seen.messages, ...record.unwritten], size: sizeWith(seen, record.unwritten) };
  }

  /** Sums up the conversation. True when there is less of it now. */
  async function makeRoom(how: () => Promise<boolean>): Promise<boolean> {
    emit({ stream: "compaction", data: { phase: "start" } });
    summingSince = deps.clock.now();
    await record.flush();
    const done = await how();
    // From here on the transcript tells more than the loop knows.
    first = false;
    emit({ stream: "compaction", data: { phase: "end", willRetry: done } });
    return done;
  }

  function isDue(size: Size): boolean {
    const about = { window, settings: compactionSettings(deps.config.current.agents?.defaults?.compaction) };
    const total = fit.total(size);
    return total > futileBelow && compactionDue({ ...about, size: total, overhead: fit.measure().overhead });
  }

  async function fitting(messages: readonly ModelMessage[]): Promise<readonly ModelMessage[]> {
    let found = await current(messages);
    // Far from any limit nothing has to be measured.
    if (isFar(found.size, fit.systemPrompt, window)) {
      first = false;
      return fit.fit(found.messages, 0);
    }
    if (!record.withheld && isDue(found.size)) {
      const done = await makeRoom(async () => (await room.compact("threshold")).kind === "compacted");
      found = await current(messages);
      if (!done || isDue(found.size)) futileBelow = Math.floor(fit.total(found.size) * FUTILE_GROWTH);
    }
    first = false;
    return fit.fit(found.messages, fit.total(found.size));
  }

  const weigh = (messages: readonly ModelMessage[]): number => estimateTokens(messages) + tokensOfChars(fit.systemPrompt.length);

  return {
    fitting,
    get systemPrompt() {
      return fit.systemPrompt;
    },
    async smaller(sent, messages, kind) {
      if (kind === "image_size" && fit.refusedImages(sent)) {
        // Later turns would send them again and be refused again.
        record.later([imagesLeftOutEntry]);
        return fitting(messages);
      }
      const before = weigh(sent);
      fit.refused(sent);
      if (!record.withheld) await makeRoom(() => room.afterOverflow(estimateTokens(sent) + fit.measure().overhead));
      const next = await fitting(messages);
      return weigh(next) < before * LEAST_GAIN ? next : undefined;
    },
    reportLeftOut() {
      const notice = fit.takeNotice();
      if (notice === undefined) return;
      deps.log.warn(notice, { sessionKey: input.sessionKey, runId: input.runId });
      emit({ stream: "compaction", data: { phase: "end", willRetry: true, notice } });
    },
  };
}

/** What the first prompt of a turn takes: what the provider counted last, and what is new. */
function sizeOf({ seen, prompt }: PreparedTurn, messages: readonly ModelMessage[]): Size {
  if (prompt) return sizeWith(seen, [prompt]);
  const whole = estimateTokens(messages);
  return { counted: 0, estimated: whole, whole };
}

function sizeWith({ size, estimate }: View, more: readonly ModelMessage[]): Size {
  const added = estimateTokens(more);
  return { counted: size.counted, estimated: size.estimated + added, whole: estimate + added };
}

function isFar({ counted, estimated }: Size, systemPrompt: string, window: number): boolean {
  if (counted > 0) return counted + estimated * 2 < window * FAR_COUNTED;
  return estimated + tokensOfChars(systemPrompt.length) < window * FAR_GUESSED;
}
