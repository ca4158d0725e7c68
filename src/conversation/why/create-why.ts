import type { Clock } from "../../base/clock.ts";
import { createRedactor } from "../../base/redaction.ts";
import type { InboxRow, OutboxRow, TurnRow, Store } from "../../store/index.ts";
import { turnOfResends, withResends } from "../delivery/row-facts.ts";
import { deliveriesOfMessage, deliverySteps } from "./delivery-steps.ts";
import { find } from "./find.ts";
import { messageSteps, recordOf } from "./message-steps.ts";
import { startOf } from "./starts.ts";
import { given, type PlacedStep, type Story, type StoryAbout, type StoryLane, type StoryStep, type StoryStepKind, type WhyDeps } from "./story.ts";
import { whyText } from "./text.ts";
import { turnFacts, turnSteps, type TurnFacts } from "./turn-steps.ts";
import { deliveryVerdict, messageVerdict, turnVerdict } from "./verdict.ts";

const LANES: Readonly<Record<StoryStepKind, StoryLane>> = {
  received: "arrival",
  gate: "arrival",
  route: "arrival",
  hook: "plugins",
  queue: "queue",
  merged: "queue",
  start: "turn",
  resumed: "turn",
  end: "turn",
  compaction: "turn",
  model: "model",
  attempt: "model",
  tool: "tools",
  approval: "tools",
  block: "delivery",
  delivery: "delivery",
};

/** What a step may be a part of, the nearest first. */
const WITHIN: Readonly<Partial<Record<StoryStepKind, readonly StoryStepKind[]>>> = {
  attempt: ["model"],
  model: ["compaction", "start"],
  approval: ["tool", "start"],
  hook: ["tool", "model", "start"],
  tool: ["start"],
  compaction: ["start"],
  block: ["start"],
  resumed: ["start"],
};

/** Times are rounded, and some are those of the commit. */
const SLACK_MS = 5;

/** When a step is over; the beginning of a turn stands for the whole of it. */
function endOf(step: StoryStep, turnEnd: number): number {
  if (step.kind === "start") return turnEnd;
  return step.ms === undefined ? (step.kind === "tool" ? turnEnd : step.at) : step.at + step.ms;
}

/** Steps by their beginning, each in its lane and below what it is a part of. What began at once stays in its order. */
export function placed(steps: readonly StoryStep[]): readonly PlacedStep[] {
  const sorted = steps.toSorted((a, b) => a.at - b.at);
  const turnEnd = sorted.find(({ kind }) => kind === "end")?.at ?? Infinity;
  const holds = (outer: StoryStep, inner: StoryStep): boolean => inner.at >= outer.at - SLACK_MS && endOf(inner, turnEnd) <= endOf(outer, turnEnd) + SLACK_MS;
  return sorted.map((step) => {
    const kinds = WITHIN[step.kind] ?? [];
    const parents = kinds.map((kind) => sorted.findLastIndex((outer) => outer !== step && outer.kind === kind && holds(outer, step)));
    const parent = parents.find((at) => at !== -1);
    return { ...step, lane: LANES[step.kind], ...(parent === undefined ? {} : { parent }) };
  });
}

export interface TellOptions {
  readonly last?: number | undefined;
  readonly closely?: boolean | undefined;
}

/** Tells what became of messages, from the store alone. */
export interface Why {
  /**
   * The story of what is named, newest first: of a session, or of all of them for `recent`, the `last` messages (default 1), of everything else one.
   * `closely`: with what tools were asked and gave, of up to 5 stories. Rejects with `NOT_FOUND` where nothing is kept under this name.
   */
  tell(what: string, options?: TellOptions): Promise<readonly Story[]>;
}

const MOST_STORIES = 50;
/** A conversation is read for each. */
const MOST_CLOSE = 5;
const MOST_OTHERS = 20;

const MOST_ASKED = 120;

/** The first words of a message; undefined where it has none. */
function beginning(text: string): string | undefined {
  const line = text
    .slice(0, MOST_ASKED * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > MOST_ASKED ? `${line.slice(0, MOST_ASKED).toWellFormed().trimEnd()}…` : line || undefined;
}

const aboutMessage = (row: InboxRow): StoryAbout =>
  given({
    inboxId: row.id,
    turnId: row.turnId,
    messageId: row.messageId,
    channel: row.channel,
    account: row.account,
    conversation: row.conversation,
    sender: row.sender,
    sessionKey: row.sessionKey,
    agentId: row.agentId,
    asked: beginning(row.text),
  });

export function createWhy({ store, now, redactor = createRedactor(), runnable = (text) => text }: WhyDeps): Why {
  const typed = (verdict: Story["verdict"]): Story["verdict"] => (verdict.todo === undefined ? verdict : { ...verdict, todo: runnable(verdict.todo) });

  async function ofMessage(row: InboxRow, others: readonly InboxRow[], closely: boolean): Promise<Story> {
    const turn = row.turnId === null ? undefined : await store.read("turns.get", { id: row.turnId });
    const sentFor = recordOf(row)?.event.id ?? row.messageId;
    const [facts, together, deliveries, open] = await Promise.all([
      turn && factsOf(turn, closely),
      turn ? store.read("inbox.ofTurn", { turnId: turn.id }) : [],
      turn ? store.read("outbox.ofTurn", { turnId: turn.id }) : deliveriesOfMessage(store, row, sentFor),
      row.state === "pending" && row.sessionKey !== null ? store.read("inbox.open", { sessionKey: row.sessionKey }) : [],
    ]);
    const inFront = open.filter(({ id }) => id < row.id);
    const start = await startOf(row, store);
    return {
      about: { ...aboutMessage(row), ...(start ? { start } : {}) },
      verdict: typed(messageVerdict({ row, facts, deliveries, inFront: inFront.length, now: now() })),
      steps: placed([...messageSteps(row, { start, turn, together, inFront }), ...(facts ? turnSteps(facts) : []), ...deliverySteps(deliveries)]),
      others: others.slice(0, MOST_OTHERS).map(aboutMessage),
    };
  }

  const factsOf = (turn: TurnRow, closely: boolean): Promise<TurnFacts> => turnFacts(store, turn, closely ? redactor : undefined);

  /** A turn's story is that of the message that it answered; the others of it stand beside. */
  async function ofTurn(turn: TurnRow, closely: boolean): Promise<Story> {
    const rows = await store.read("inbox.ofTurn", { turnId: turn.id });
    const asked = rows.filter(({ outcome }) => outcome !== "merged");
    const row = asked.at(-1) ?? rows.at(-1);
    if (row)
      return ofMessage(
        row,
        rows.filter(({ id }) => id !== row.id),
        closely,
      );
    const [facts, deliveries] = await Promise.all([factsOf(turn, closely), store.read("outbox.ofTurn", { turnId: turn.id })]);
    return {
      about: { turnId: turn.id, sessionKey: turn.sessionKey, agentId: turn.agentId },
      verdict: typed(turnVerdict(facts, deliveries, now())),
      steps: placed([...turnSteps(facts), ...deliverySteps(deliveries)]),
      others: [],
    };
  }

  async function ofDelivery(row: OutboxRow, closely: boolean): Promise<Story> {
    const turn = row.turnId === null ? undefined : await store.read("turns.get", { id: row.turnId });
    if (turn) {
      const story = await ofTurn(turn, closely);
      return { ...story, about: { ...story.about, outboxId: row.id } };
    }
    const rows = withResends(row, await store.read("outbox.ofTurn", { turnId: turnOfResends(row) }));
    return {
      about: given({ outboxId: row.id, channel: row.channel, account: row.account, conversation: row.target, sessionKey: row.sessionKey }),
      verdict: typed(deliveryVerdict(rows)),
      steps: placed(deliverySteps(rows)),
      others: [],
    };
  }

  return {
    async tell(what, { last = 1, closely = false } = {}) {
      const found = await find(store, what, Math.min(Math.max(Math.trunc(last), 1), MOST_STORIES));
      if (found.kind === "delivery") return [await ofDelivery(found.row, closely)];
      const close = (stories: readonly unknown[]): boolean => closely && stories.length <= MOST_CLOSE;
      if (found.kind === "turns") return Promise.all(found.turns.map((turn) => ofTurn(turn, close(found.turns))));
      return Promise.all(found.rows.map((row) => ofMessage(row, found.others, close(found.rows))));
    },
  };
}

/** Turns that are searched for the last one of a model. */
const MOST_TURNS = 50;

/** The last turn of a session that a model was to answer. Commands of clients have turns of their own, without a prompt: they do not count. */
async function lastTurn(store: Pick<Store, "read">, sessionKey: string): Promise<string | undefined> {
  for (const { id, outcome } of await store.read("turns.ofSession", { sessionKey, limit: MOST_TURNS })) {
    if (outcome === "failed" || (await store.read("journal.steps", { turnId: id })).length > 0) return id;
  }
  return undefined;
}

/** How a message of a session was answered, in a few lines; without an id, its last one. Messages of other sessions are not explained. */
export async function whyInSession(
  { store, clock }: { readonly store: Store; readonly clock: Pick<Clock, "now"> },
  sessionKey: string,
  id: string | undefined,
): Promise<string | undefined> {
  const subject = id ?? (await lastTurn(store, sessionKey));
  if (subject === undefined) return undefined;
  const [story] = await createWhy({ store, now: clock.now })
    .tell(subject)
    .catch(() => []);
  return story && story.about.sessionKey === sessionKey ? whyText(story, { short: true }) : undefined;
}
