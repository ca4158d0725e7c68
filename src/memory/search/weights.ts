import { readFileSync } from "node:fs";
import { dataFile } from "../data-file.ts";
import { learnedRanker, parseWeights, type Ranker } from "./ranker.ts";

/** The trained weights that are shipped; undefined when they are missing or for other features, and the fixed ones are used. */
export function loadRanker(file: string | URL = dataFile("ranker.json")): Ranker | undefined {
  try {
    const weights = parseWeights(JSON.parse(readFileSync(file, "utf8")));
    return weights && learnedRanker(weights);
  } catch {
    return undefined;
  }
}
