import { extname } from "node:path";
import { isSdk, sdkNamesOf, withoutUnusedImports, type ExportsOf, type Lexed, type SdkName } from "./imports.ts";
import { stripTypes } from "./strip.ts";

export type Lex = (code: string) => Lexed;

/** A file of a plugin as Node gets it. */
export interface PreparedSource {
  readonly format: "module" | "commonjs";
  readonly code: string;
  readonly sdkNames: readonly SdkName[];
}

const TYPESCRIPT = new Set([".ts", ".mts", ".cts", ".tsx"]);
export const isTypeScript = (file: string): boolean => TYPESCRIPT.has(extname(file));

export interface PrepareOptions {
  readonly lex: Lex;
  /** Takes imports away by token rather than by word; see {@link withoutUnusedImports}. */
  readonly exact: boolean;
  readonly exportsOf: ExportsOf;
}

/**
 * JavaScript of a plugin's own file, and whether it is a module: by its extension, else by what is written in it, whatever the
 * package says. Lines stay where they were. Throws `SyntaxFailure`.
 */
export function prepareSource(file: string, source: string, { lex, exact, exportsOf }: PrepareOptions): PreparedSource {
  const extension = extname(file);
  const typed = TYPESCRIPT.has(extension);
  let code = typed ? stripTypes(source, file) : source;
  const lexed = lexOrNothing(lex, code);
  const [imports, , , hasModuleSyntax] = lexed;
  const format = formatOf(extension, code, hasModuleSyntax);
  if (format === "commonjs") return { format, code, sdkNames: [] };
  if (typed) code = withoutUnusedImports(code, lexed, exact, exportsOf);
  const usesSdk = imports.some((item) => typeof item.specifier === "string" && isSdk(item.specifier));
  const sdkNames = usesSdk ? sdkNamesOf(code, lex(code)[0]) : [];
  return { format, code: typed || extension === ".js" ? withCommonJsNames(code) : code, sdkNames };
}

/** What the lexer cannot read V8 will not compile either, and says so better. */
function lexOrNothing(lex: Lex, code: string): Lexed {
  try {
    return lex(code);
  } catch {
    return [[], [], false, /^\s*(?:import|export)\b/m.test(code)];
  }
}

const COMMONJS = /\bmodule\.exports\b|\bexports\.\w|\bexports\[|\brequire\s*\(|\b__(?:dirname|filename)\b/;

function formatOf(extension: string, code: string, hasModuleSyntax: boolean): "module" | "commonjs" {
  if (extension === ".mts" || extension === ".mjs" || hasModuleSyntax) return "module";
  return extension === ".cts" || extension === ".cjs" || COMMONJS.test(code) ? "commonjs" : "module";
}

/** What a module that was written for a bundler or transpiler may find missing: `require`, `__filename`, `__dirname`. */
function withCommonJsNames(code: string): string {
  const given: string[] = [];
  const lacks = (name: string, use: RegExp): boolean =>
    use.test(code) && !new RegExp(`\\b(?:const|let|var|function|class|as|import)\\s+${name}\\b|[{,]\\s*${name}\\s*[,}][^\\n]*(?:=|from)`).test(code);
  if (lacks("__filename", /\b__filename\b/)) given.push("__filename=import.meta.filename");
  if (lacks("__dirname", /\b__dirname\b/)) given.push("__dirname=import.meta.dirname");
  if (lacks("require", /(?<![.\w$])require\s*(?:\(|\.resolve\b)/)) given.push('require=process.getBuiltinModule("node:module").createRequire(import.meta.url)');
  return given.length === 0 ? code : `var ${given.join(",")};${code.startsWith("#!") ? `//${code}` : code}`;
}
