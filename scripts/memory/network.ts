/** A network with one hidden layer, trained on lists: in each list some rows are right, and they are to stand above the others. */

export interface List {
  /** One row per candidate, one after the other. */
  readonly rows: Float64Array;
  readonly count: number;
  /** What the output of each row begins with. */
  readonly prior: Float64Array;
  /** Which candidates are right. */
  readonly right: readonly number[];
}

export interface Network {
  readonly inputs: number;
  readonly hidden: number;
  /** Hidden weights (inputs + 1 each), then the output's (hidden + 1). */
  readonly weights: Float64Array;
}

/** Random numbers that are the same in every run. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}

/** A normally distributed number. */
export const normal = (random: () => number): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

export function createNetwork(inputs: number, hidden: number, random: () => number): Network {
  const weights = new Float64Array(hidden * (inputs + 1) + hidden + 1);
  for (let index = 0; index < weights.length; index += 1) weights[index] = (normal(random) / Math.sqrt(inputs)) * (index >= hidden * (inputs + 1) ? 0.1 : 1);
  return { inputs, hidden, weights };
}

/** The outputs for the rows of a list; `activations` receives what the hidden units gave. */
export function outputs({ inputs, hidden, weights }: Network, { rows, count, prior }: List, activations?: Float64Array): Float64Array {
  const result = new Float64Array(count);
  const output = hidden * (inputs + 1);
  for (let row = 0; row < count; row += 1) {
    let sum = (weights[output + hidden] ?? 0) + (prior[row] ?? 0);
    for (let unit = 0; unit < hidden; unit += 1) {
      const at = unit * (inputs + 1);
      let value = weights[at + inputs] ?? 0;
      for (let input = 0; input < inputs; input += 1) value += (weights[at + input] ?? 0) * (rows[row * inputs + input] ?? 0);
      const active = Math.tanh(value);
      if (activations) activations[row * hidden + unit] = active;
      sum += active * (weights[output + unit] ?? 0);
    }
    result[row] = sum;
  }
  return result;
}

/** Adds the gradient of one list's loss; returns the loss. */
function accumulate(network: Network, list: List, gradient: Float64Array): number {
  const { inputs, hidden, weights } = network;
  const activations = new Float64Array(list.count * hidden);
  const scores = outputs(network, list, activations);
  const top = scores.reduce((most, score) => Math.max(most, score), -Infinity);
  const exps = scores.map((score) => Math.exp(score - top));
  const total = exps.reduce((sum, value) => sum + value, 0);
  const right = new Set(list.right);
  const output = hidden * (inputs + 1);
  let loss = 0;
  for (let row = 0; row < list.count; row += 1) {
    const chance = (exps[row] ?? 0) / total;
    const wanted = right.has(row) ? 1 / right.size : 0;
    if (wanted > 0) loss -= wanted * Math.log(chance + 1e-12);
    const error = chance - wanted;
    if (Math.abs(error) < 1e-6) continue;
    gradient[output + hidden] = (gradient[output + hidden] ?? 0) + error;
    for (let unit = 0; unit < hidden; unit += 1) {
      const active = activations[row * hidden + unit] ?? 0;
      gradient[output + unit] = (gradient[output + unit] ?? 0) + error * active;
      const back = error * (weights[output + unit] ?? 0) * (1 - active * active);
      const at = unit * (inputs + 1);
      for (let input = 0; input < inputs; input += 1) gradient[at + input] = (gradient[at + input] ?? 0) + back * rows(list, row, input, inputs);
      gradient[at + inputs] = (gradient[at + inputs] ?? 0) + back;
    }
  }
  return loss;
}

const rows = (list: List, row: number, input: number, inputs: number): number => list.rows[row * inputs + input] ?? 0;

export interface Training {
  readonly epochs: number;
  readonly rate: number;
  /** Pulls weights towards zero. */
  readonly decay: number;
  readonly random: () => number;
  readonly report?: (epoch: number, loss: number) => void;
}

/** Adam, one step per 16 lists. */
export function train(network: Network, lists: readonly List[], { epochs, rate, decay, random, report }: Training): void {
  const { weights } = network;
  const [first, second] = [new Float64Array(weights.length), new Float64Array(weights.length)];
  let step = 0;
  for (let epoch = 0; epoch < epochs; epoch += 1) {
    const order = lists.map((list) => ({ list, at: random() })).toSorted((a, b) => a.at - b.at);
    const pace = rate * (0.5 + 0.5 * Math.cos((Math.PI * epoch) / epochs));
    let loss = 0;
    for (let from = 0; from < order.length; from += 16) {
      const gradient = new Float64Array(weights.length);
      const batch = order.slice(from, from + 16);
      for (const { list } of batch) loss += accumulate(network, list, gradient);
      step += 1;
      for (let index = 0; index < weights.length; index += 1) {
        const slope = (gradient[index] ?? 0) / batch.length + decay * (weights[index] ?? 0);
        first[index] = 0.9 * (first[index] ?? 0) + 0.1 * slope;
        second[index] = 0.999 * (second[index] ?? 0) + 0.001 * slope * slope;
        const move = (first[index] ?? 0) / (1 - 0.9 ** step) / (Math.sqrt((second[index] ?? 0) / (1 - 0.999 ** step)) + 1e-8);
        weights[index] = (weights[index] ?? 0) - pace * move;
      }
    }
    report?.(epoch, loss / lists.length);
  }
}

/** One network that gives the mean of several: their hidden units side by side. */
export function meanOf(networks: readonly Network[]): Network {
  const [first] = networks;
  if (!first) throw new Error("expected at least one network");
  const { inputs, hidden } = first;
  const units = hidden * networks.length;
  const row = inputs + 1;
  const weights = new Float64Array(units * row + units + 1);
  for (const [n, network] of networks.entries()) {
    weights.set(network.weights.subarray(0, hidden * row), n * hidden * row);
    for (let unit = 0; unit < hidden; unit += 1) weights[units * row + n * hidden + unit] = (network.weights[hidden * row + unit] ?? 0) / networks.length;
    weights[units * row + units] = (weights[units * row + units] ?? 0) + (network.weights[hidden * row + hidden] ?? 0) / networks.length;
  }
  return { inputs, hidden: units, weights };
}

/** Slope and offset that turn outputs into chances: logistic regression by gradient descent on scores of comparable size. */
export function calibrate(scores: readonly number[], labels: readonly boolean[]): readonly [number, number] {
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  const spread = Math.sqrt(scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / scores.length) || 1;
  let [slope, offset] = [1, 0];
  for (let round = 0; round < 3000; round += 1) {
    let [bySlope, byOffset] = [0, 0];
    for (const [index, score] of scores.entries()) {
      const value = (score - mean) / spread;
      const error = 1 / (1 + Math.exp(-(slope * value + offset))) - (labels[index] ? 1 : 0);
      bySlope += error * value;
      byOffset += error;
    }
    slope -= (2 * bySlope) / scores.length;
    offset -= (2 * byOffset) / scores.length;
  }
  return [slope / spread, offset - (slope * mean) / spread];
}
