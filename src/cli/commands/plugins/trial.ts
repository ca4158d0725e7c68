import type { TrialProgram } from "../../../app/index.ts";
import type { Io } from "../../io.ts";

/** This command line, to be run once more. */
export const ownProgram = ({ cwd, env }: Io): TrialProgram => ({ args: [...process.execArgv, process.argv[1]!], cwd, env });
