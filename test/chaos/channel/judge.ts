import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { FakeTelegram } from "../../fakes/telegram/index.ts";
import { isUnfinished } from "./model.ts";
import type { Said } from "./people.ts";

interface InboxFacts {
  readonly id: number;
  readonly conversation: string;
  readonly message_id: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly why: string | null;
  readonly turn_id: string | null;
}

interface OutboxFacts {
  readonly id: number;
  readonly turn_id: string | null;
  readonly state: string;
  readonly attempts: number;
  readonly repeats: number;
  readonly target: string;
  readonly payload: string;
  readonly why: string | null;
  readonly settled_at: number | null;
}

export interface Rows {
  readonly inbox: readonly InboxFacts[];
  readonly outbox: readonly OutboxFacts[];
}

/** The rows as they are on disk, whether or not a process has the store open. */
export function readRows(stateDir: string): Rows {
  const file = join(stateDir, "openclaw.db");
  if (!existsSync(file)) return { inbox: [], outbox: [] };
  using db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  return {
    inbox: db
      .prepare("SELECT id, conversation, message_id, state, outcome, why, turn_id FROM inbox WHERE channel = 'telegram'")
      .all() as unknown as InboxFacts[],
    outbox: db.prepare("SELECT id, turn_id, state, attempts, repeats, target, payload, why, settled_at FROM outbox").all() as unknown as OutboxFacts[],
  };
}

const rowsOf = ({ inbox }: Rows, { chatId, messageId }: Said): readonly InboxFacts[] =>
  inbox.filter((row) => row.message_id === String(messageId) && row.conversation.includes(String(chatId)));

/** What is still under way; empty when everything has come to its end. */
export function unsettled(rows: Rows, telegram: FakeTelegram, said: readonly Said[]): readonly string[] {
  const absent = said.filter((one) => rowsOf(rows, one).length === 0).map(({ word }) => `${word} is not in the inbox`);
  const open = rows.inbox.filter(({ state }) => state !== "settled").map(({ id, state }) => `inbox row ${id} is ${state}`);
  const unsent = rows.outbox.filter(({ settled_at: at }) => at === null).map(({ id, state, why }) => `outbox row ${id} is ${state} (${why ?? "no reason"})`);
  return [...absent, ...open, ...unsent, ...(telegram.pending > 0 ? [`${telegram.pending} updates are not confirmed`] : [])];
}

export interface Tally {
  /** Messages that were sent once more, marked as a possible repeat. */
  repeats: number;
  /** Tools that may or may not have run; the sender was notified. */
  unknown: number;
  /** Senders who were notified that it could not be done. */
  notified: number;
  /** Answers that may have arrived twice and never did: the outbox lists them as failed. */
  givenUp: number;
  /** Messages that showed an answer while it was written and stayed as they were when the process died; the answer came whole behind them, marked. */
  cutOff: number;
}

export const NO_TALLY: Tally = { repeats: 0, unknown: 0, notified: 0, givenUp: 0, cutOff: 0 };

const MARK = "(repeat?) ";
const wordsOf = (text: string): readonly string[] => text.match(/\bw\d+-\d+\b/g) ?? [];

/** One sentence per broken promise about what people see. */
export function findBroken(rows: Rows, telegram: FakeTelegram, said: readonly Said[], ledger: string): { readonly broken: string[]; readonly tally: Tally } {
  const broken: string[] = [];
  const tally: Tally = { ...NO_TALLY };
  const written = existsSync(ledger) ? readFileSync(ledger, "utf8").trim().split("\n") : [];
  for (const word of new Set(written)) {
    const times = written.filter((line) => line === word).length;
    if (times > 1) broken.push(`the tool for ${word} ran ${times} times`);
  }
  for (const one of said) judgeOne(one, { rows, telegram, written, broken, tally });
  for (const chatId of new Set(said.map((one) => one.chatId))) {
    judgeOrder(
      chatId,
      said.filter((one) => one.chatId === chatId),
      telegram,
      broken,
    );
  }
  return { broken, tally };
}

/** Whether a row answers this very message, without a turn. */
function isAbout({ payload, target }: OutboxFacts, { chatId, messageId }: Said): boolean {
  return target.includes(String(chatId)) && (JSON.parse(payload) as { readonly messageId?: string }).messageId === String(messageId);
}

interface Bench {
  readonly rows: Rows;
  readonly telegram: FakeTelegram;
  readonly written: readonly string[];
  readonly broken: string[];
  readonly tally: Tally;
}

function judgeOne(one: Said, { rows, telegram, written, broken, tally }: Bench): void {
  const { word, verb, chatId } = one;
  const [row, ...more] = rowsOf(rows, one);
  if (!row) return void broken.push(`${word} was confirmed and is lost`);
  if (more.length > 0) broken.push(`${word} is in the inbox ${more.length + 1} times`);
  if (row.outcome === null) return void broken.push(`${word} has no outcome (${row.state})`);
  const shown = telegram.messages(chatId).filter(({ byBot, text }) => byBot && wordsOf(text).includes(word));
  const seen = shown.filter(({ text }) => !isUnfinished(text));
  tally.cutOff += shown.length - seen.length;
  const marked = seen.filter(({ text }) => text.startsWith(MARK));
  const plain = seen.length - marked.length;
  if (shown.length > seen.length && plain > 0) broken.push(`the answer to ${word} stands there cut off, and whole without a mark`);
  tally.repeats += marked.length;
  if (plain > 1) broken.push(`the answer to ${word} is there ${plain} times without a mark: ${JSON.stringify(seen.map(({ id, text }) => [id, text]))}`);
  if (marked.length > 1) broken.push(`the answer to ${word} was repeated ${marked.length} times`);
  const says = (how: string): boolean => seen.some(({ text }) => text.includes(`${how} ${word}`));
  if (says("unknown")) tally.unknown += 1;
  if (verb === "do" && says("done") && !written.includes(word)) broken.push(`${word} is called done and was never run`);
  if (seen.length > 0) return;
  const own = rows.outbox.filter((sent) => (sent.turn_id !== null && sent.turn_id === row.turn_id) || isAbout(sent, one));
  const lost = own.find(({ state, repeats, payload }) => state === "failed" && repeats > 0 && payload.includes(word));
  if (lost) return void (tally.givenUp += 1);
  if (row.outcome === "failed" && own.some(({ state }) => state === "sent")) return void (tally.notified += 1);
  broken.push(`${word} ended as ${row.outcome} (${row.why ?? "no reason"}) and nobody was notified: ${JSON.stringify(own)}`);
}

/** Answers of a chat stand in the order of its messages; an answer to several counts as the last of them. */
function judgeOrder(chatId: number, said: readonly Said[], telegram: FakeTelegram, broken: string[]): void {
  const places = new Map(said.map(({ word }, at) => [word, at]));
  let last = -1;
  for (const { byBot, text, id } of telegram.messages(chatId)) {
    if (!byBot) continue;
    const found = wordsOf(text).flatMap((word) => places.get(word) ?? []);
    if (found.length === 0) continue;
    if (Math.max(...found) < last) broken.push(`in chat ${chatId} message ${id} (${text}) stands behind a later answer`);
    last = Math.max(last, ...found);
  }
}
