/** Kills a gateway on the way from a platform's event to the receipt of its answer, for any channel that has a lab. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "../../../src/base/random.ts";
import type { ChannelLab, Lacks, MakeLab, Said } from "../../conformance/channels/lab.ts";

const POINTS = ["inbox.committed", "ack.sent", "turn.started", "model.result.committed", "outbox.committed", "send.attempted", "send.receipt", "time"] as const;

/** Longest time after a restart without anything that comes to its end. On a busy machine the whole may take longer. */
const SETTLE_MS = 90_000;
const SETTLE_AT_MOST_MS = 600_000;
/** A point that is not passed by then is not waited for. */
const ALIVE_MS = 5000;
const AWAY = 2;
const WHILE = 5;
const MARK = "(repeat?) ";

export interface LabCampaignOptions {
  readonly make: MakeLab;
  readonly lacks: Lacks;
  readonly kills: number;
  readonly random: Random;
  readonly stop?: () => boolean;
  readonly onRound?: (round: number, facts: { readonly point: string; readonly said: number; readonly repeats: number }) => void;
}

export interface LabCampaignReport {
  readonly kills: number;
  readonly said: number;
  readonly accepted: number;
  /** Answers that were sent once more, marked. */
  readonly repeats: number;
  /** Messages whose failure the person was notified about. */
  readonly notified: number;
  readonly broken: readonly string[];
}

interface Spoken extends Said {
  readonly word: string;
}

interface Row {
  readonly message_id: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly turn_id: string | null;
}

interface Facts {
  readonly inbox: readonly Row[];
  readonly open: number;
  readonly sentTurns: ReadonlySet<string>;
}

function readFacts(stateDir: string, channel: string): Facts {
  const file = join(stateDir, "openclaw.db");
  if (!existsSync(file)) return { inbox: [], open: 0, sentTurns: new Set() };
  using db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  const inbox = db.prepare("SELECT message_id, state, outcome, turn_id FROM inbox WHERE channel = ?").all(channel) as unknown as Row[];
  const { open } = db.prepare("SELECT count(*) AS open FROM outbox WHERE settled_at IS NULL").get() as { open: number };
  const sent = db.prepare("SELECT turn_id FROM outbox WHERE state = 'sent' AND turn_id IS NOT NULL").all() as { turn_id: string }[];
  return { inbox, open, sentTurns: new Set(sent.map(({ turn_id: id }) => id)) };
}

const wordsIn = (text: string): readonly string[] => text.match(/\bw-k\d+n\d+\b/g) ?? [];

/** What is not at its end yet. A platform that keeps nothing may lose what was said while nobody read it. */
function unsettled(lab: ChannelLab, lacks: Lacks, said: readonly Spoken[], facts: Facts): string[] {
  const known = new Set(facts.inbox.map(({ message_id: id }) => id));
  const absent = lacks.missed === undefined ? said.filter(({ id }) => !known.has(id)).map(({ word }) => `${word} is not in the inbox`) : [];
  const rows = facts.inbox.filter(({ state }) => state !== "settled").map(({ message_id: id, state }) => `${lab.channel} message ${id} is ${state}`);
  return [...absent, ...rows, ...(facts.open > 0 ? [`${facts.open} messages wait to be sent`] : [])];
}

function judge(lab: ChannelLab, lacks: Lacks, said: readonly Spoken[], facts: Facts): Pick<LabCampaignReport, "accepted" | "repeats" | "notified" | "broken"> {
  const texts = lab.received().map(({ text }) => text);
  const broken: string[] = [];
  let [accepted, repeats, notified] = [0, 0, 0];
  for (const { word, id } of said) {
    const seen = texts.filter((text) => wordsIn(text).includes(word));
    const marked = seen.filter((text) => text.startsWith(MARK)).length;
    repeats += marked;
    if (seen.length - marked > 1) broken.push(`the answer to ${word} is there ${seen.length - marked} times without a mark`);
    if (marked > 1) broken.push(`the answer to ${word} was repeated ${marked} times`);
    const row = facts.inbox.find(({ message_id: known }) => known === id);
    // Without ids of its own (IRC) the answer is the only witness.
    if (row) accepted += 1;
    if (seen.length > 0) continue;
    if (row?.outcome === "failed" && row.turn_id !== null && facts.sentTurns.has(row.turn_id)) notified += 1;
    else if (row || lacks.missed === undefined) broken.push(`${word} has no answer (${row?.outcome ?? "not in the inbox"})`);
  }
  let last = -1;
  for (const text of texts) {
    const at = Math.max(-1, ...wordsIn(text).map((word) => said.findIndex((one) => one.word === word)));
    if (at >= 0 && at < last && !text.startsWith(MARK)) broken.push(`"${text}" stands behind a later answer`);
    last = Math.max(last, at);
  }
  return { accepted, repeats, notified, broken };
}

/** Ends the process at its failpoint, or by a kill when that is not passed in time. */
async function die(lab: ChannelLab, afterMs: number): Promise<void> {
  if (!lab.gateway.isRunning()) return;
  const end = performance.now() + afterMs;
  while (lab.gateway.isAlive() && performance.now() < end) await wait(20);
  await lab.gateway.kill();
}

async function settle(lab: ChannelLab, lacks: Lacks, said: readonly Spoken[]): Promise<readonly string[]> {
  const begun = performance.now();
  for (let before = Infinity, movedAt = begun; ;) {
    const open = unsettled(lab, lacks, said, readFacts(lab.gateway.place.stateDir, lab.channel));
    const now = performance.now();
    if (open.length < before) movedAt = now;
    before = open.length;
    if (open.length === 0 || now - movedAt > SETTLE_MS || now - begun > SETTLE_AT_MOST_MS) return open;
    await wait(50);
  }
}

export async function labCampaign({ make, lacks, kills: wanted, random, stop, onRound }: LabCampaignOptions): Promise<LabCampaignReport> {
  await using lab = await make({});
  const said: Spoken[] = [];
  const say = async (round: number): Promise<void> => {
    const word = `w-k${round}n${said.length}`;
    said.push({ ...(await lab.say(`please ${word}`)), word });
  };
  let report: Omit<LabCampaignReport, "kills" | "said"> = { accepted: 0, repeats: 0, notified: 0, broken: [] };
  let kills = 0;
  while (kills < wanted && report.broken.length === 0) {
    if (stop?.() === true) break;
    const point = POINTS[kills % POINTS.length]!;
    const failpoint = point === "time" ? undefined : `${point}:${1 + Math.floor(random.float() * 4)}`;
    if (lab.gateway.isRunning()) await lab.gateway.kill();
    if (lacks.missed === undefined) for (let n = 0; n < AWAY; n += 1) await say(kills);
    // It may die while it starts: what waited is taken up then.
    await lab.gateway.start(failpoint ? { OPENCLAW_FAILPOINT: failpoint } : {}).catch(() => undefined);
    for (let n = 0; n < WHILE && lab.gateway.isAlive(); n += 1) {
      await say(kills).catch(() => undefined);
      await wait(random.float() * 150);
    }
    await die(lab, failpoint ? ALIVE_MS : random.float() * 1500);
    kills += 1;
    await lab.gateway.start();
    await say(kills).catch(() => undefined);
    const open = await settle(lab, lacks, said);
    const found = judge(lab, lacks, said, readFacts(lab.gateway.place.stateDir, lab.channel));
    const where = `after kill ${kills} at ${failpoint ?? "a random time"}`;
    report = { ...found, broken: [...open, ...found.broken].map((text) => `${where}: ${text}`) };
    if (report.broken.length > 0) report = { ...report, broken: [...report.broken, lab.gateway.output().slice(-3000)] };
    onRound?.(kills, { point: failpoint ?? "time", said: said.length, repeats: report.repeats });
  }
  return { kills, said: said.length, ...report };
}
