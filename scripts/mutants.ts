/**
 * `npm run mutants [-- --only 9,10] [--json] [--jobs 2]`: for each security class of `test/security/mutants/` its defence is removed in a copy, and the tests of
 * the class must fail. Ends with 1 when a mutant survives or is broken, or a class has none.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { loadDefinitions } from "./mutants/definitions.ts";
import { runMutants, type MutantResult } from "./mutants/run.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({ options: { only: { type: "string" }, json: { type: "boolean", default: false }, jobs: { type: "string", default: "2" } } });
// Copies are removed and children ended when this process exits; a signal alone would end it without.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(130));
const started = performance.now();
const wanted = values.only?.split(",").map(Number);
const { classes, problems } = loadDefinitions(root);
const chosen = wanted === undefined ? classes : classes.filter(({ number }) => wanted.includes(number));
const unknown = wanted?.filter((number) => !classes.some((one) => one.number === number)) ?? [];

function table(results: readonly MutantResult[]): string {
  const rows = results.map((row) => [String(row.class).padStart(5), row.outcome.padEnd(8), `${row.seconds.toFixed(1).padStart(6)} s`, row.removes].join("  "));
  return ["class  outcome      time  removed defence", ...rows].join("\n");
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);
for (const problem of problems) say(problem);
for (const number of unknown) say(`class ${number} has no mutant`);
const fits = problems.length === 0 && unknown.length === 0;
const { failing, results } = fits
  ? await runMutants({ root, classes: chosen, jobs: Math.max(1, Number(values.jobs) || 1), progress: say })
  : { failing: [], results: [] };
const bad = results.filter(({ outcome }) => outcome !== "killed");
const seconds = Math.round((performance.now() - started) / 1000);
const ok = fits && failing.length === 0 && bad.length === 0 && results.length > 0;
if (values.json) process.stdout.write(`${JSON.stringify({ ok, seconds, problems: [...problems, ...failing], results }, null, 2)}\n`);
else if (results.length > 0) process.stdout.write(`${table(results)}\n`);
for (const { class: number, outcome, removes, detail } of bad)
  say(`class ${number} ${outcome}: ${removes}${detail.length > 0 ? `\n  ${detail.join("\n  ")}` : ""}`);
say(`${results.length} mutants, ${results.length - bad.length} killed, ${bad.length} not, in ${seconds} s`);
process.exitCode = ok ? 0 : 1;
