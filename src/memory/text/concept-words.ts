import { readFileSync } from "node:fs";
import { dataFile } from "../data-file.ts";
import type { Analyser } from "./analyser.ts";
import { createConcepts, type Concepts } from "./concepts.ts";

/** The groups of words that are shipped. Without the file nothing is expanded. */
export function loadConcepts(analyser: Analyser): Concepts {
  let text = "";
  try {
    text = readFileSync(dataFile("concepts.txt"), "utf8");
  } catch {
    // The search works without it, with less to go by.
  }
  return createConcepts(text, analyser);
}
