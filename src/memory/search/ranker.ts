import { readFileSync } from "node:fs";
import { isRecord } from "../../base/records.ts";
import { FEATURES, type Feature, type Features } from "./features.ts";
import { dataFile } from "../data-file.ts";

/** Scores a passage for a question: the chance, from 0 to 1, that it or a neighbour holds the answer. */
export interface Ranker {
  readonly kind: "learned" | "fixed";
  score(features: Features): number;
  /** What moved the score most, strongest first: how much it would fall without the feature. */
  explain(features: Features): readonly { readonly feature: Feature; readonly effect: number; readonly value: number }[];
}

/** A network with one hidden layer, as the training writes it: it corrects the sum with the fixed weights. */
export interface RankerWeights {
  readonly features: readonly string[];
  readonly mean: readonly number[];
  readonly scale: readonly number[];
  /** One row per hidden unit: the weights of the features, then its bias. */
  readonly hidden: readonly (readonly number[])[];
  /** One weight per hidden unit, then the bias. */
  readonly output: readonly number[];
  /** From the network's output to a probability. */
  readonly calibration: readonly [slope: number, offset: number];
}

const sigmoid = (value: number): number => 1 / (1 + Math.exp(-value));

/** Undefined when the weights are for other features: then the fixed weights are used. */
export function learnedRanker(weights: RankerWeights): Ranker | undefined {
  const { mean, scale, hidden, output, calibration } = weights;
  const fits = weights.features.length === FEATURES.length && FEATURES.every((name, index) => weights.features[index] === name);
  if (!fits) return undefined;
  const width = FEATURES.length;
  const input = new Float64Array(width);
  const rows = hidden.map((row) => Float64Array.from(row));

  function logit(features: Features): number {
    for (let index = 0; index < width; index += 1) input[index] = (features[FEATURES[index]!] - mean[index]!) / scale[index]!;
    let sum = output[rows.length]! + fixedLogit(features);
    for (let unit = 0; unit < rows.length; unit += 1) {
      const row = rows[unit]!;
      let value = row[width]!;
      for (let index = 0; index < width; index += 1) value += row[index]! * input[index]!;
      sum += Math.tanh(value) * output[unit]!;
    }
    return sum;
  }

  const score = (features: Features): number => sigmoid(calibration[0] * logit(features) + calibration[1]);
  return { kind: "learned", score, explain: (features) => effects(features, score) };
}

/** Set by hand: what is used without trained weights, and what the trained ones are compared with. */
const FIXED: Readonly<Partial<Record<Feature, number>>> = {
  words: 2.2,
  wordsRank: 1.2,
  coverageRelated: 1.6,
  coverageAbout: 0.6,
  rarest: 0.5,
  closeness: 0.4,
  pairs: 0.6,
  previous: 0.9,
  next: 0.3,
  answersQuestion: 1.1,
  session: 0.5,
  isQuestion: -0.8,
  askedOfAssistant: 0.8,
  askedOfUser: 0.4,
  speaker: 0.8,
  numberWanted: 0.3,
  timeWanted: 0.3,
  capitalWanted: 0.2,
  newestWanted: 0.5,
  oldestWanted: 0.5,
  inSpan: 1.5,
  inAnchor: 0.8,
  exact: 2,
  vector: 2.5,
  vectorRank: 1,
};
const FIXED_OFFSET = -4.5;

const FIXED_WEIGHTS = FEATURES.map((name) => [name, FIXED[name] ?? 0] as const).filter(([, weight]) => weight !== 0);

/** The sum with the fixed weights, before it becomes a chance. */
export const fixedLogit = (features: Features): number => FIXED_WEIGHTS.reduce((sum, [name, weight]) => sum + weight * features[name], FIXED_OFFSET);

export function fixedRanker(): Ranker {
  const score = (features: Features): number => sigmoid(fixedLogit(features));
  return { kind: "fixed", score, explain: (features) => effects(features, score) };
}

/** Features whose absence would lower or raise the score by at least this much are worth naming. */
const NAMED = 0.01;

function effects(features: Features, score: (features: Features) => number): ReturnType<Ranker["explain"]> {
  const whole = score(features);
  return FEATURES.flatMap((feature) => {
    const value = features[feature];
    const effect = value === 0 ? 0 : whole - score({ ...features, [feature]: 0 });
    return Math.abs(effect) < NAMED ? [] : [{ feature, effect, value }];
  }).toSorted((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
}

const isNumbers = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((item) => typeof item === "number" && Number.isFinite(item));

/** Reads weights that a file brought; undefined when it is something else. */
export function parseWeights(value: unknown): RankerWeights | undefined {
  if (!isRecord(value)) return undefined;
  const { features, mean, scale, hidden, output, calibration } = value;
  if (!Array.isArray(features) || !isNumbers(mean) || !isNumbers(scale) || !isNumbers(output) || !isNumbers(calibration)) return undefined;
  if (!Array.isArray(hidden) || !hidden.every((row) => isNumbers(row) && row.length === features.length + 1) || output.length !== hidden.length + 1)
    return undefined;
  const [slope, offset] = calibration;
  if (slope === undefined || offset === undefined || mean.length !== features.length || scale.length !== features.length) return undefined;
  return { features: features.map(String), mean, scale, hidden, output, calibration: [slope, offset] };
}

/** The trained weights that are shipped; undefined when they are missing or for other features, and the fixed ones are used. */
export function loadRanker(file: string | URL = dataFile("ranker.json")): Ranker | undefined {
  try {
    const weights = parseWeights(JSON.parse(readFileSync(file, "utf8")));
    return weights && learnedRanker(weights);
  } catch {
    return undefined;
  }
}
