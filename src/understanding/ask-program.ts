import { tmpdir } from "node:os";
import { AppError } from "../base/errors.ts";
import { expandHome } from "../config/index.ts";
import { loadPrograms } from "../media/index.ts";
import type { UnderstandingDeps } from "./deps.ts";
import type { UnderstandingRequest } from "./types.ts";

interface Question {
  readonly command: string;
  readonly args: readonly string[];
  readonly values: () => Readonly<Record<string, string>>;
  readonly request: Pick<UnderstandingRequest, "fields">;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Asks a program of the configuration about a file or a link; it has to answer something. */
export async function askProgram({ config }: Pick<UnderstandingDeps, "config">, { command, request, ...question }: Question): Promise<string> {
  const { runMediaProgram } = await loadPrograms();
  const program = expandHome(command, config.paths.home);
  const answer = await runMediaProgram({ ...question, command: program, fields: request.fields, temporary: tmpdir(), env: config.env() });
  if (answer === "") throw new AppError("UNAVAILABLE", `${command} returned nothing`);
  return answer;
}
