import { stripTypeScriptTypes } from "node:module";
import { messageOf, systemCode } from "../../base/errors.ts";
import { withoutRuntimeTypeScript } from "./syntax.ts";

/** TypeScript that could not become JavaScript. */
export class SyntaxFailure extends Error {
  override readonly name = "SyntaxFailure";
  readonly file: string;
  readonly line: number | undefined;

  constructor(message: string, file: string, line: number | undefined, cause: unknown) {
    super(message, { cause });
    this.file = file;
    this.line = line;
  }
}

/** JavaScript of a TypeScript file; every line stays where it was. Throws {@link SyntaxFailure}. */
export function stripTypes(source: string, file: string): string {
  try {
    return quietly(() => stripTypeScriptTypes(source));
  } catch (error) {
    if (systemCode(error) !== "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") throw failure(error, file);
  }
  try {
    return quietly(() => stripTypeScriptTypes(withoutRuntimeTypeScript(source)));
  } catch (error) {
    throw failure(error, file);
  }
}

function failure(error: unknown, file: string): SyntaxFailure {
  const line = /^:(\d+)/.exec((error instanceof Error ? error.stack : undefined) ?? "")?.[1];
  const advice =
    systemCode(error) === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX"
      ? "; ship this file as JavaScript"
      : file.endsWith(".tsx")
        ? "; JSX is not supported: ship this file as JavaScript"
        : "";
  return new SyntaxFailure(messageOf(error) + advice, file, line === undefined ? undefined : Number(line), error);
}

/** Node warns once that stripping is experimental; that is nothing an operator can act upon. */
function quietly<T>(work: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
