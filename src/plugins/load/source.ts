import { isRecord } from "../../base/records.ts";
import { readFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { compileFunction } from "node:vm";
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
 * JavaScript of a plugin's own file, and whether it is a module: by its extension, else by what is written in it, else by what the
 * package says. Lines stay where they were. Throws `SyntaxFailure`.
 */
export function prepareSource(file: string, source: string, { lex, exact, exportsOf }: PrepareOptions): PreparedSource {
  const extension = extname(file);
  const typed = TYPESCRIPT.has(extension);
  let code = typed ? stripTypes(source, file) : source;
  const lexed = lexOrNothing(lex, code);
  const [imports, , , hasModuleSyntax] = lexed;
  const format = formatOf(file, code, hasModuleSyntax);
  if (format === "commonjs") return { format, code, sdkNames: [] };
  if (typed) code = withoutUnusedImports(code, lexed, exact, exportsOf);
  const usesSdk = imports.some((item) => typeof item.specifier === "string" && isSdk(item.specifier));
  const sdkNames = usesSdk ? sdkNamesOf(code, lex(code)[0]) : [];
  return { format, code: typed || extension === ".js" ? withCommonJsNames(code) : code, sdkNames };
}

/** What the lexer cannot read V8 will not compile as a module either, and says so better. */
function lexOrNothing(lex: Lex, code: string): Lexed {
  try {
    return lex(code);
  } catch {
    return [[], [], false, !compilesAsCommonJs(code)];
  }
}

/** Whether code is an ES module by its syntax: imports, exports, `import.meta` or top-level await. */
export function hasModuleSyntax(lex: Lex, code: string): boolean {
  return /\b(?:import|export|await)\b/.test(code) && (lexOrNothing(lex, code)[3] || awaitsAtTop(code));
}

const awaitsAtTop = (code: string): boolean => /\bawait\b/.test(code) && !compilesAsCommonJs(code);

function compilesAsCommonJs(code: string): boolean {
  try {
    compileFunction(code.replace(/^#!.*/, ""), ["exports", "require", "module", "__filename", "__dirname"]);
    return true;
  } catch {
    return false;
  }
}

const COMMONJS = /\bmodule\.exports\b|\bexports\s*[.[=]|[(,]\s*exports\s*[,)]|\brequire\s*\(|\b__(?:dirname|filename)\b/;

function formatOf(file: string, code: string, isModule: boolean): "module" | "commonjs" {
  const extension = extname(file);
  if (extension === ".mts" || extension === ".mjs" || isModule) return "module";
  if (extension === ".cts" || extension === ".cjs") return "commonjs";
  if (awaitsAtTop(code)) return "module";
  if (COMMONJS.test(code)) return "commonjs";
  // TypeScript without either had nothing but types; JavaScript is what Node takes it for.
  return extension !== ".js" || packageType(file) === "module" ? "module" : "commonjs";
}

/** `type` of the nearest package.json. */
function packageType(file: string): unknown {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    try {
      const found: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      return isRecord(found) ? found["type"] : undefined;
    } catch (error) {
      if (error instanceof SyntaxError || folder === dirname(folder)) return undefined;
    }
  }
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
