/** What `npm run mutants` removes: one JSON file per security class, in `test/security/mutants/`. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The classes that need a file with at least one mutant. */
export const CLASSES: readonly number[] = Array.from({ length: 42 }, (_, at) => at + 1);

/** Classes whose tests are still being written. A class leaves this list with its first mutant. */
export const MAY_BE_MISSING: readonly number[] = [];

export interface Mutant {
  /** The defence that is gone, in words. */
  readonly removes: string;
  /** Path from the root of the repository. */
  readonly file: string;
  /** Occurs exactly once in `file`. */
  readonly find: string;
  readonly replace: string;
}

export interface SecurityClass {
  readonly number: number;
  /** Paths from the root of the repository. */
  readonly tests: readonly string[];
  readonly mutants: readonly Mutant[];
}

export interface Definitions {
  readonly classes: readonly SecurityClass[];
  /** One line for each thing that is wrong with the files themselves. */
  readonly problems: readonly string[];
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

function parseMutant(value: unknown): Mutant | undefined {
  const { removes, file, find, replace } = (value ?? {}) as Record<string, unknown>;
  return isText(removes) && isText(file) && isText(find) && typeof replace === "string" && find !== replace ? { removes, file, find, replace } : undefined;
}

function parseClass(number: number, text: string): SecurityClass {
  const { tests, mutants } = JSON.parse(text) as { tests?: unknown; mutants?: unknown };
  if (!Array.isArray(tests) || tests.length === 0 || !tests.every(isText)) throw new Error('"tests" must be a list of test files');
  if (!Array.isArray(mutants) || mutants.length === 0) throw new Error('"mutants" must be a list with at least one entry');
  const parsed = mutants.map((value, at) => {
    const mutant = parseMutant(value);
    if (!mutant) throw new Error(`mutants[${at}] must have the texts "removes", "file", "find" and a different "replace"`);
    return mutant;
  });
  return { number, tests, mutants: parsed };
}

/** Where a mutant does not fit the sources. */
function misfit(root: string, { file, find }: Mutant): string | undefined {
  if (!existsSync(join(root, file))) return `${file} does not exist`;
  const count = readFileSync(join(root, file), "utf8").split(find).length - 1;
  return count === 1 ? undefined : `${JSON.stringify(find)} occurs ${count} times in ${file}, expected once`;
}

export interface Expectation {
  readonly expected: readonly number[];
  readonly mayBeMissing: readonly number[];
}

/** Reads every class and checks it against the sources. Throws for nothing: what is wrong is in `problems`. */
export function loadDefinitions(root: string, { expected, mayBeMissing }: Expectation = { expected: CLASSES, mayBeMissing: MAY_BE_MISSING }): Definitions {
  const folder = join(root, "test/security/mutants");
  const names = readdirSync(folder).sort();
  const problems: string[] = [];
  const classes: SecurityClass[] = [];
  for (const name of names) {
    const number = Number(/^(\d\d)\.json$/.exec(name)?.[1]);
    if (!expected.includes(number)) {
      problems.push(`test/security/mutants/${name}: expected a name like 07.json, of a class between ${expected[0]} and ${expected.at(-1)}`);
      continue;
    }
    try {
      classes.push(parseClass(number, readFileSync(join(folder, name), "utf8")));
    } catch (error) {
      problems.push(`test/security/mutants/${name}: ${(error as Error).message}`);
    }
  }
  for (const { number, tests, mutants } of classes) {
    for (const test of tests) if (!existsSync(join(root, test))) problems.push(`class ${number}: ${test} does not exist`);
    for (const mutant of mutants) {
      const wrong = misfit(root, mutant);
      if (wrong !== undefined) problems.push(`class ${number}: ${wrong}`);
    }
  }
  for (const number of expected) {
    if (!mayBeMissing.includes(number) && !classes.some((one) => one.number === number))
      problems.push(`class ${number} has no mutant: write test/security/mutants/${String(number).padStart(2, "0")}.json`);
  }
  return { classes, problems };
}
