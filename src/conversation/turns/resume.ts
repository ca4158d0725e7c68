/** What the previous process did not finish. */
import { isRecord } from "../../base/records.ts";
import type { InboxRow } from "../../store/index.ts";
import { inboundOf, type Group, type Inbound } from "../inbound.ts";
import { type CreateItem, mergeInto, type Item, type OpenItems } from "../items.ts";
import type { Examination } from "../intake/examine.ts";
import type { ConversationDeps } from "../ports.ts";

interface ResumeDeps {
  readonly deps: ConversationDeps;
  readonly open: OpenItems;
  readonly createItem: CreateItem;
  readonly examination: Pick<Examination, "addAgain">;
  enqueue(item: Item): void;
  /** False: this process accepted the input itself. */
  claim(inboxId: number): boolean;
  /** Whether the item is looked at before older messages of its session that wait. */
  overtakes(item: Item): boolean;
  /** Leaves messages on disk until their session comes to them. */
  putOff(messages: Group): void;
}

/** Resumes what the previous process did not finish. */
export interface Resumption {
  /** What was in a turn goes on, all of a turn together; what waited waits again, on disk. Gives how many messages there were. */
  resumeAll(): Promise<number>;
  /** Takes up messages that waited. Resolves when later ones cannot overtake them any more; never rejects. */
  begin(messages: Group): Promise<void>;
}

/** Open inputs that are read at once: there may be as many as came while nothing was answered. */
const PAGE = 200;

/** Inputs without an end, some at a time. */
async function* openRows({ store }: Pick<ConversationDeps, "store">, state: "claimed" | "pending"): AsyncGenerator<readonly InboxRow[]> {
  for (let after = 0; ;) {
    const rows = await store.read("inbox.open", { state, after, limit: PAGE });
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.id ?? after;
  }
}

/** Turns that open inputs belong to, or would. */
async function turnsOfOpenRows(deps: Pick<ConversationDeps, "store">): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  for (const state of ["claimed", "pending"] as const) {
    for await (const rows of openRows(deps, state)) {
      for (const row of rows) {
        if (row.turnId !== null) known.add(row.turnId);
        const request = inboundOf(row)?.request;
        if (request) known.add(request.runId);
      }
    }
  }
  return known;
}

/** Ends turns of the previous process that have no messages and that no one waits for. */
async function closeOrphans({ store }: Pick<ConversationDeps, "store">, isKnown: (turnId: string) => boolean): Promise<void> {
  for (const { id } of await store.read("turns.unfinished", {})) {
    if (!isKnown(id)) await store.write("turns.end", { id, outcome: "cancelled", why: "the process ended" });
  }
}

/** Whether a turn that was interrupted has already written its prompt, so that the text of its message is no longer read. */
export async function wasPrompted({ store }: Pick<ConversationDeps, "store">, turnId: string): Promise<boolean> {
  const steps = await store.read("journal.steps", { turnId });
  return steps.some(({ kind, data }) => kind === "model.result" || (kind === "note" && isRecord(data) && data["said"] === true));
}

/** Messages that were taken together, the last of which has what was decided. */
function isDecided(messages: readonly Inbound[]): boolean {
  const last = messages.at(-1);
  return last !== undefined && last.id === last.decided?.last;
}

/** Removes the reactions that the previous process set. Never rejects. */
async function removeAcks(messages: readonly Inbound[], deps: ConversationDeps): Promise<void> {
  try {
    const { removeEarlierAck } = await import("../reply/index.ts");
    await Promise.all(messages.map((message) => removeEarlierAck(deps, message)));
  } catch (error) {
    deps.log.debug("a reaction could not be removed", { error });
  }
}

/** Gives an item what commands and plugins decided about its messages. */
function applyDecided(item: Item, deps: ConversationDeps): Item {
  const { messages } = item;
  const decided = messages.flatMap((message) => (message.decided?.last === message.id ? [message.decided] : []));
  const { thinking, hints } = decided.at(-1) ?? {};
  const acked = messages.filter((message) => message.decided?.ack);
  item.text = messages.flatMap(({ id, text, decided: known }) => (known ? (known.last === id ? [known.text ?? text] : []) : [text])).join("\n");
  item.isSpoken = decided.at(-1)?.spoken === true;
  item.thinking = thinking;
  item.hints = hints;
  item.hooks = decided.flatMap((one) => one.hooks ?? []);
  if (acked.length > 0) item.ack = { replied: () => removeAcks(acked, deps) };
  return item;
}

export function createResumption({ deps, open, createItem, examination, enqueue, claim, overtakes, putOff }: ResumeDeps): Resumption {
  /** Commands and plugins have decided: it goes to its lane. */
  const goOn = (item: Item): void => enqueue(applyDecided(item, deps));

  function itemOf(messages: Group, turnId?: string): Item {
    const item = createItem(messages, { turnId });
    open.add(item);
    return item;
  }

  /** Runs of clients that one turn answered: it has the id of the newest. Without a prompt it goes on with that one, and the others are released. */
  async function resumeRuns(messages: Group, turnId: string): Promise<void> {
    const main = messages.find(({ request }) => request?.runId === turnId) ?? messages[0];
    const others = messages.filter((message) => message !== main);
    const isPrompted = await wasPrompted(deps, turnId).catch(() => false);
    if (isPrompted) {
      const item = itemOf([main], turnId);
      for (const other of others) mergeInto(item, itemOf([other], turnId));
      return goOn(item);
    }
    if (others.length > 0) await deps.store.write("inbox.release", { ids: others.map(({ id }) => id) }).catch(() => {});
    for (const message of [...others, main]) {
      const item = itemOf([message], message === main ? turnId : undefined);
      if (message.decided) goOn(item);
      else void examination.addAgain(item, false);
    }
  }

  async function resumeTurn(messages: Group, turnId: string): Promise<void> {
    if (messages[0].request) return resumeRuns(messages, turnId);
    const isReady = isDecided(messages) || (await wasPrompted(deps, turnId));
    const item = itemOf(messages, turnId);
    if (isReady) goOn(item);
    else void examination.addAgain(item, false);
  }

  async function begin(messages: Group): Promise<void> {
    if (isDecided(messages)) return goOn(itemOf(messages));
    await Promise.all(messages.map((message) => examination.addAgain(itemOf([message]), true)));
  }

  /** Messages that were taken together, in order; those that this process accepted are not among them. */
  function groupsOf(rows: readonly InboxRow[], groupOf: (message: Inbound) => unknown): readonly Group[] {
    const left = rows.filter(({ id }) => claim(id)).flatMap((row) => inboundOf(row) ?? []);
    return [...Map.groupBy(left, groupOf).values()].flatMap(([first, ...others]): readonly Group[] => (first ? [[first, ...others]] : []));
  }

  async function resumeAll(): Promise<number> {
    const known = await turnsOfOpenRows(deps);
    await closeOrphans(deps, (turnId) => known.has(turnId) || open.get(turnId) !== undefined);
    let resumed = 0;
    // Read before any is resumed: a turn's inputs go together, and one that begins now claims others.
    const claimed = await Array.fromAsync(openRows(deps, "claimed"));
    for (const messages of groupsOf(claimed.flat(), ({ turnId }) => turnId)) {
      resumed += messages.length;
      await resumeTurn(messages, messages[0].turnId ?? "");
    }
    // What begins now may claim or end what waits: a page is read when the one before it was put in its place.
    for await (const rows of openRows(deps, "pending")) {
      for (const messages of groupsOf(rows, ({ id, decided }) => decided?.last ?? id)) {
        resumed += messages.length;
        if (messages.length === 1 && overtakes(createItem(messages))) void begin(messages);
        else putOff(messages);
      }
    }
    return resumed;
  }

  return { resumeAll, begin };
}
