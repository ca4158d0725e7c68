/**
 * `node scripts/memory/train.ts [--data folder …] [--out ranker.json] [--epochs 8] [--all]`: trains the ranker of the memory search on conversations of our own
 * making. Each folder has `conversations.jsonl` and `questions.jsonl`; every fifth person's questions are left out of the training and used to report how well it does, unless `--all`.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gather } from "../../src/memory/search/candidates.ts";
import { FEATURES, measure, type Features } from "../../src/memory/search/features.ts";
import { readQuestion } from "../../src/memory/search/question.ts";
import { fixedLogit, type RankerWeights } from "../../src/memory/search/ranker.ts";
import { calibrate, createNetwork, meanOf, normal, outputs, seeded, train, type List, type Network } from "./network.ts";
import { createPool, readConversations, readQuestions, type Asked, type Pool } from "./pool.ts";

/** Several small networks, each begun with other numbers, make one: their mean errs less on people it has not seen. */
const NETWORKS = 3;
const HIDDEN = 6;
/** How often what was written by hand is shown for each time that generated text is. */
const WRITTEN = 5;

interface Example {
  readonly ids: readonly number[];
  readonly features: readonly Features[];
  readonly right: readonly number[];
  /** All that was expected, found or not. */
  readonly expected: number;
  readonly isTest: boolean;
  /** By hand, not generated. */
  readonly isWritten: boolean;
}

function examplesOf(pool: Pool, questions: readonly Asked[]): readonly Example[] {
  return questions.map(({ query, now, expect }) => {
    const seconds = Math.floor(Date.parse(now) / 1000);
    const question = readQuestion(query, { analyser: pool.analyser, concepts: pool.concepts, now: seconds, zoneSeconds: 0 });
    const gathered = gather({ index: pool.index, passages: pool.passages, question, allowed: undefined, now: seconds });
    const features = measure(question, gathered, { analyser: pool.analyser, now: seconds, neighbour: (id) => pool.passages.get([id]).get(id) });
    const ids = [...features.keys()];
    const wanted = new Set(expect.map(({ sessionId, entryId }) => pool.passageOf(sessionId, entryId)));
    const right = ids.flatMap((id, index) => (wanted.has(id) ? [index] : []));
    const sessionId = expect[0]?.sessionId ?? "";
    return {
      ids,
      features: [...features.values()],
      right,
      expected: expect.length,
      isTest: personOf(sessionId) % 5 === 0,
      isWritten: sessionId.startsWith("t-"),
    };
  });
}

/** A number for the person that a session belongs to: `t-07` of `t-0712`, `g-en3` of `g-en3-044`. */
function personOf(sessionId: string): number {
  const name = /^t-\d\d/.exec(sessionId)?.[0] ?? sessionId.replace(/[-_.]?\d+$/, "");
  let hash = 7;
  for (const sign of name) hash = (hash * 31 + (sign.codePointAt(0) ?? 0)) >>> 0;
  return hash;
}

/** The same list as if there were embeddings: right ones are near the question, their neighbours less, others rarely. */
function withVectors({ ids, features, right }: Example, random: () => number): readonly Features[] {
  const wanted = new Set(right.map((index) => ids[index] ?? 0));
  const cosines = ids.map((id, index) => {
    const near = [1, -1, 2, -2].some((step) => wanted.has(id + step));
    const usual = wanted.has(id) ? 0.58 : near ? 0.42 : 0.26 + 0.16 * (features[index]?.coverageRelated ?? 0);
    return usual + 0.09 * normal(random);
  });
  const order = cosines.map((cosine, index) => ({ cosine, index })).toSorted((a, b) => b.cosine - a.cosine);
  const ranks = new Map(order.map(({ index }, rank) => [index, rank]));
  return features.map((row, index) => ({ ...row, vector: cosines[index] ?? 0, vectorRank: 1 / (1 + (ranks.get(index) ?? 0) / 5) }));
}

interface Scaling {
  readonly mean: readonly number[];
  readonly scale: readonly number[];
}

function scalingOf(examples: readonly Example[]): Scaling {
  const rows = examples.flatMap(({ features }) => features);
  const mean = FEATURES.map((name) => rows.reduce((sum, row) => sum + row[name], 0) / rows.length);
  const scale = FEATURES.map((name, index) => Math.sqrt(rows.reduce((sum, row) => sum + (row[name] - (mean[index] ?? 0)) ** 2, 0) / rows.length) || 1);
  // There are no embeddings in what was measured.
  for (const name of ["vector", "vectorRank"] as const) {
    mean[FEATURES.indexOf(name)] = 0;
    scale[FEATURES.indexOf(name)] = 0.3;
  }
  return { mean, scale };
}

function listOf(features: readonly Features[], right: readonly number[], { mean, scale }: Scaling): List {
  const rows = new Float64Array(features.length * FEATURES.length);
  for (const [row, measured] of features.entries()) {
    for (const [index, name] of FEATURES.entries()) rows[row * FEATURES.length + index] = (measured[name] - (mean[index] ?? 0)) / (scale[index] ?? 1);
  }
  return { rows, count: features.length, right, prior: Float64Array.from(features, fixedLogit) };
}

function recallAt(network: Network, examples: readonly Example[], scaling: Scaling, most: number): number {
  const values = examples.map(({ features, right, expected }) => {
    const scores = outputs(network, listOf(features, right, scaling));
    const best = new Set([...scores.keys()].toSorted((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0)).slice(0, most));
    return right.filter((index) => best.has(index)).length / expected;
  });
  return values.reduce((sum, value) => sum + value, 0) / (values.length || 1);
}

/** The chance that a passage or one beside it is right, from the scores of the first twenty of each list. */
function calibrationOf(network: Network, examples: readonly Example[], scaling: Scaling): readonly [number, number] {
  const [scores, labels]: [number[], boolean[]] = [[], []];
  for (const { ids, features, right } of examples) {
    const given = outputs(network, listOf(features, right, scaling));
    const wanted = new Set(right.map((index) => ids[index] ?? 0));
    for (const index of [...given.keys()].toSorted((a, b) => (given[b] ?? 0) - (given[a] ?? 0)).slice(0, 20)) {
      scores.push(given[index] ?? 0);
      labels.push([0, 1, -1, 2, -2, 3, -3].some((step) => wanted.has((ids[index] ?? 0) + step)));
    }
  }
  return calibrate(scores, labels);
}

/** The shipped training set: what was written by hand, and what the generator makes. */
function ownData(): string {
  const source = join(import.meta.dirname, "..", "..", "test", "fixtures", "memory", "training");
  const folder = mkdtempSync(join(tmpdir(), "memory-training-"));
  execFileSync(process.execPath, [join(source, "generate.mjs"), folder], { stdio: "ignore" });
  const written = readdirSync(join(source, "written"))
    .toSorted()
    .map((name) => readFileSync(join(source, "written", name), "utf8"));
  for (const [name, texts] of [
    ["conversations.jsonl", written],
    ["questions.jsonl", [readFileSync(join(source, "written-questions.jsonl"), "utf8")]],
  ] as const) {
    const file = join(folder, name);
    writeFileSync(file, texts.join("") + readFileSync(file, "utf8"));
  }
  return folder;
}

const rounded = (value: number): number => Number(value.toPrecision(5));

function weightsOf({ inputs, hidden, weights }: Network, { mean, scale }: Scaling, calibration: readonly [number, number]): RankerWeights {
  const row = (unit: number): number[] => Array.from(weights.slice(unit * (inputs + 1), (unit + 1) * (inputs + 1)), rounded);
  return {
    features: [...FEATURES],
    mean: mean.map(rounded),
    scale: scale.map(rounded),
    hidden: Array.from({ length: hidden }, (_, unit) => row(unit)),
    output: Array.from(weights.slice(hidden * (inputs + 1)), rounded),
    calibration: [rounded(calibration[0]), rounded(calibration[1])],
  };
}

function main(): void {
  const { values } = parseArgs({
    options: {
      data: { type: "string", multiple: true },
      out: { type: "string" },
      epochs: { type: "string", default: "8" },
      decay: { type: "string", default: "0.03" },
      all: { type: "boolean" },
    },
  });
  const examples = (values.data ?? [ownData()]).flatMap((folder) => {
    using pool = createPool(readConversations(join(folder, "conversations.jsonl")));
    return [...examplesOf(pool, readQuestions(join(folder, "questions.jsonl")))];
  });
  if (examples.length === 0) throw new Error("expected --data with at least one folder that has questions");
  const random = seeded(20_261_117);
  const scaling = scalingOf(examples);
  // The weights that are shipped learn from everybody.
  const learning = values.all ? examples : examples.filter(({ isTest }) => !isTest);
  const testing = examples.filter(({ isTest }) => isTest);
  const usable = learning.filter(({ right }) => right.length > 0);
  const lists = usable.flatMap((example) => [
    ...Array.from({ length: example.isWritten ? WRITTEN : 1 }, () => listOf(example.features, example.right, scaling)),
    ...(random() < 0.3 ? [listOf(withVectors(example, random), example.right, scaling)] : []),
  ]);
  const networks = Array.from({ length: NETWORKS }, (_, n) => {
    const network = createNetwork(FEATURES.length, HIDDEN, random);
    const report = (epoch: number, loss: number): void => console.log(`network ${n + 1}, epoch ${epoch + 1}: loss ${loss.toFixed(3)}`);
    train(network, lists, { epochs: Number(values.epochs), rate: 0.01, decay: Number(values.decay), random, report });
    return network;
  });
  const network = meanOf(networks);
  const calibration = calibrationOf(network, learning, scaling);
  for (const written of [true, false]) {
    const part = testing.filter(({ isWritten }) => isWritten === written);
    const reachable = part.reduce((sum, { right, expected }) => sum + right.length / expected, 0) / part.length;
    console.log(
      `${written ? "by hand" : "generated"}, left out: ${part.length} questions, recall@10 ${recallAt(network, part, scaling, 10).toFixed(3)} of ${reachable.toFixed(3)} among the candidates`,
    );
  }
  console.log(
    `${examples.length} questions, ${testing.length} of them left out; ${network.weights.length} weights; recall@5 ${recallAt(network, testing, scaling, 5).toFixed(3)}, recall@10 ${recallAt(network, testing, scaling, 10).toFixed(3)}; calibration ${calibration.map((value) => value.toFixed(2)).join(", ")}`,
  );
  if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify(weightsOf(network, scaling, calibration))}\n`);
}

main();
