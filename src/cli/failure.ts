import { AppError } from "../base/errors.ts";
import { printJson, type Io } from "./io.ts";
import { createStyle } from "./output/style.ts";

/** Shows what went wrong, for people on the error output, for machines as the answer. Gives the exit code. */
export function showFailure(error: unknown, io: Io, json: boolean): number {
  const known = error instanceof AppError;
  const code = known ? error.code : "INTERNAL";
  const message = io.runnable(error instanceof Error ? error.message : String(error));
  if (json) {
    printJson(io, { ok: false, error: { code, message, ...(known && Object.keys(error.details).length > 0 ? { details: error.details } : {}) } });
    return 1;
  }
  const style = createStyle(io.color);
  io.err(`${style.red("error:")} ${message}\n`);
  if (!known) io.err(`${style.dim("This is a bug in openclaw. Please report it with these lines:")}\n${error instanceof Error ? error.stack : ""}\n`);
  return 1;
}
