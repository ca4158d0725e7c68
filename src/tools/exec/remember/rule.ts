import { basename, resolve } from "node:path";
import { isInside } from "../../../base/files.ts";
import { isHarmless } from "../environment.ts";
import { realPath } from "../../executables.ts";
import { ownEnvironment, type ExecPlan, type PinnedFile, type PlannedSegment } from "../plan.ts";
import { changedFile, pinnedFiles, pinnedText } from "./pins.ts";
import { readingShape } from "./readers.ts";
import { runnerOf, type Runner } from "./runners.ts";
import { scriptRefusal } from "./scripts.ts";

/**
 * What "allow always" stores about one program. `shape`: these options and this sub-command, with any operands inside a folder; only for programs that
 * can do nothing but read. `exact`: these arguments in this folder. Both hold only as long as `files` have their contents.
 */
export type CommandRule =
  | {
      readonly kind: "shape";
      readonly subcommand: string | null;
      readonly flags: readonly string[];
      /** Operands are files in here, or no files at all. */
      readonly folder: string;
      readonly files: readonly PinnedFile[];
    }
  | { readonly kind: "exact"; readonly args: readonly string[]; readonly cwd: string; readonly files: readonly PinnedFile[] };

/** A rule together with the program it is for. */
export interface ProgramRule {
  /** Path of the program. */
  readonly program: string;
  readonly rule: CommandRule;
}

/** What "always" would store for one segment of a plan, or why it stores nothing. */
export type Rememberable = ({ readonly kind: "rule" } & ProgramRule) | { readonly kind: "never"; readonly program: string; readonly why: string };

/** Where an agent and its user live. */
export interface Folders {
  readonly workspace: string;
  readonly home: string;
}

/** For each segment of a plan what "always" would store. Empty when nothing in it could be distinguished. */
export function rememberable(plan: ExecPlan, folders: Folders): readonly Rememberable[] {
  if (wholeRefusal(plan) !== undefined) return [];
  return plan.segments.map((segment) => forSegment(segment, plan, folders));
}

/** Why nothing of a plan can be stored. */
function wholeRefusal(plan: ExecPlan): string | undefined {
  if (!plan.analysable) return "only the shell knows what this command line runs";
  if (plan.pty === true) return "later terminal input is not known in advance";
  if (!isHarmless(ownEnvironment(plan))) return "it sets variables that change what programs do";
  return undefined;
}

function forSegment(segment: PlannedSegment, plan: ExecPlan, { workspace, home }: Folders): Rememberable {
  const { executable, argv } = segment;
  const never = (why: string): Rememberable => ({ kind: "never", program: executable ?? argv[0], why });
  if (executable === null) return never("the shell runs it itself, or it was not found");
  const args = argv.slice(1);
  const shape = readingShape(executable, args);
  const files = filesOf(segment, plan, home);
  if (shape && shape.operands.every((operand) => staysInside(operand, plan.cwd, workspace))) {
    return { kind: "rule", program: executable, rule: { kind: "shape", subcommand: shape.subcommand, flags: shape.flags, folder: workspace, files } };
  }
  const runner = runnerOf(executable);
  if (runner && runner.kind !== "arguments") return never(runner.why);
  if (!shape && takesInput(segment)) return never("its input is not known in advance");
  const loads = [executable, ...files.map(({ path }) => path)].map((path) => scriptRefusal(path, plan.cwd)).find((why) => why !== undefined);
  if (!shape && loads !== undefined) return never(loads);
  if (runner && files.some(({ path }) => namesPrograms(runner, path))) return never(runner.why);
  return { kind: "rule", program: executable, rule: { kind: "exact", args, cwd: plan.cwd, files } };
}

/** Whether a file is one that the runner reads, and names programs for it to start. */
function namesPrograms({ names, reads = [] }: Runner, path: string): boolean {
  return names !== undefined && reads.some((read) => path.endsWith(read.replace(/^~/, ""))) && names.test(pinnedText(path));
}

const takesInput = ({ joint, input }: PlannedSegment): boolean => joint === "|" || input !== undefined;

/** Those files of the plan that this segment depends on, as they were when it was made. */
function filesOf(segment: PlannedSegment, { files = [], cwd }: ExecPlan, home: string): readonly PinnedFile[] {
  const own = new Set(pinnedFiles({ segments: [segment], cwd }, home).map(({ path }) => path));
  return files.filter(({ path }) => own.has(path));
}

function staysInside(operand: string, cwd: string, folder: string): boolean {
  // Of `link/..` only the system knows where it leads.
  if (operand.startsWith("~") || operand.split("/").includes("..")) return false;
  return isInside(realPath(folder), deepestReal(resolve(cwd, operand)));
}

/** Where a path leads to; of one that is not there, where its nearest folder does. */
function deepestReal(path: string): string {
  const real = realPath(path);
  if (real !== path) return real;
  const parent = resolve(path, "..");
  return parent === path ? path : resolve(deepestReal(parent), basename(path));
}

/** True when a rule of "always" covers a segment: the same options, and files that are still as they were. */
export function covers({ program, rule }: ProgramRule, segment: PlannedSegment, plan: ExecPlan): boolean {
  if (segment.executable !== program) return false;
  const args = segment.argv.slice(1);
  if (rule.kind === "shape") {
    const shape = readingShape(program, args);
    if (!shape || shape.subcommand !== rule.subcommand || !sameWords(shape.flags, rule.flags)) return false;
    if (!shape.operands.every((operand) => staysInside(operand, plan.cwd, rule.folder))) return false;
  } else if (plan.cwd !== rule.cwd || !sameWords(args, rule.args) || (takesInput(segment) && !readingShape(program, args))) return false;
  return changedFile(rule.files) === undefined;
}

const sameWords = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((word, index) => word === b[index]);

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** A rule in the words of an approval. */
export function describeRule({ program, rule }: ProgramRule): string {
  const kept =
    rule.files.length === 0 ? "" : `, as long as ${rule.files.map(({ path }) => path).join(", ")} ${rule.files.length === 1 ? "does" : "do"} not change`;
  if (rule.kind === "exact") return `exactly ${[program, ...rule.args].map(quoted).join(" ")} in ${rule.cwd}${kept}`;
  const fixed = [program, ...(rule.subcommand === null ? [] : [rule.subcommand]), ...rule.flags].map(quoted).join(" ");
  return `${fixed} with any names or files in ${rule.folder}${kept}`;
}

/** What "always" would do for a plan, for the operator who decides. */
export function describeAlways(plan: ExecPlan, folders: Folders): string {
  const whole = wholeRefusal(plan);
  if (whole !== undefined) return `Remembers nothing: ${whole}.`;
  const all = rememberable(plan, folders);
  const lines = all.map((one) => (one.kind === "rule" ? `Remembers ${describeRule(one)}.` : `Remembers nothing for ${basename(one.program)}: ${one.why}.`));
  const asked = all.some(({ kind }) => kind === "never") ? ["The whole line needs approval again next time."] : [];
  return [...new Set(lines), ...asked].join("\n");
}
