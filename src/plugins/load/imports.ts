import type { Export, Import, StaticImport } from "es-module-lexer";
import { withChanges, type Change } from "./syntax.ts";
import { tokensOf, type Token } from "./tokens.ts";

export const SDK = "openclaw/plugin-sdk";
export const isSdk = (specifier: string): boolean => specifier === SDK || specifier.startsWith(`${SDK}/`);

/** What es-module-lexer's `parse` answers. */
export type Lexed = readonly [imports: readonly Import[], exports: readonly Export[], facade: boolean, hasModuleSyntax: boolean];

/** A name that a file takes from the SDK by a static import. */
export interface SdkName {
  readonly specifier: string;
  /** Undefined for an import without names: it needs the sub-path only. */
  readonly name?: string;
  readonly line: number;
}

interface Name {
  readonly imported: string;
  readonly local: string;
  readonly start: number;
  /** After the comma that follows, if one does. */
  readonly end: number;
}

interface Clause {
  readonly statement: StaticImport;
  readonly isExport: boolean;
  readonly names: readonly Name[];
  /** `import {} from "x"`, left by the stripper where all names were types. */
  readonly emptied: boolean;
}

export const lineAt = (code: string, index: number): number => code.slice(0, index).split("\n").length;

/** Names in the clause of every static import and re-export. */
function clausesOf(code: string, imports: readonly Import[]): Clause[] {
  const clauses: Clause[] = [];
  for (const statement of imports) {
    if (statement.type !== "static" && statement.type !== "reexport-star") continue;
    const offset = statement.importStart;
    const tokens = tokensOf(code.slice(offset, statement.start - 1));
    const names: Name[] = [];
    let inBraces = false;
    for (let i = 1; i < tokens.length; i += 1) {
      const token = tokens[i]!;
      if (token.value === "{") inBraces = true;
      else if (token.value === "}") inBraces = false;
      if ((token.kind === "mark" && token.value !== "*") || (token.value === "from" && i === tokens.length - 1)) continue;
      const renamed = tokens[i + 1]?.value === "as" && tokens[i + 2] !== undefined && tokens[i + 2]!.kind !== "mark";
      if (token.value === "*" && !renamed) continue;
      const local = renamed ? tokens[(i += 2)]! : token;
      const last = tokens[i + 1]?.value === "," ? tokens[i + 1]! : local;
      const imported = token.value === "*" ? "*" : inBraces ? unquoted(token) : "default";
      names.push({ imported, local: unquoted(local), start: offset + token.start, end: offset + last.end });
    }
    const marks = tokens.filter((token) => token.kind === "mark").map((token) => token.value);
    clauses.push({ statement, isExport: tokens[0]?.value === "export", names, emptied: names.length === 0 && marks.join("") === "{}" });
  }
  return clauses;
}

const unquoted = (token: Token): string => (token.kind === "text" ? token.value.slice(1, -1) : token.value);

interface Span {
  readonly start: number;
  readonly end: number;
}

const spaces = (code: string, { start, end }: Span): Change => ({ start, end, text: " ".repeat(code.slice(start, end).replace(/[\n\r]/g, "").length) });

/** Words of the code outside of `except`, without those in texts and comments if `exact`. */
function wordsUsed(code: string, except: readonly Span[], exact: boolean): Set<string> {
  const rest = withChanges(
    code,
    except.map((span) => spaces(code, span)),
  );
  if (!exact) return new Set(rest.match(/[\p{ID_Continue}$]+/gu));
  const tokens = tokensOf(rest);
  const used = new Set<string>();
  for (const [i, token] of tokens.entries()) {
    if (token.kind !== "word") continue;
    const before = tokens[i - 1]?.value;
    if (before === "." && tokens[i - 2]?.value !== ".") continue;
    if ((before === "{" || before === ",") && tokens[i + 1]?.value === ":") continue;
    used.add(token.value);
  }
  return used;
}

/** A name in an `export { … }` without `from`. */
interface Listed extends Span {
  readonly local: string;
  readonly from?: { readonly specifier: string; readonly name: string };
}

function listedExports(code: string, exports: readonly Export[]): { readonly lists: readonly Span[]; readonly names: readonly Listed[] } {
  const lists = new Map<number, Span>();
  const names: Listed[] = [];
  for (const item of exports) {
    if (item.type === "reexport-all" || !/^export\s*\{/.test(code.slice(item.exportStart, item.start + 1))) continue;
    const end = code.indexOf("}", item.end) + 1;
    if (/^\s*from\b/.test(code.slice(end))) continue;
    lists.set(item.exportStart, { start: item.exportStart, end });
    const head = code.slice(item.exportStart, item.start);
    const local = /([\p{ID_Continue}$]+)\s+as\s+$/u.exec(head)?.[1];
    const comma = /^\s*,/.exec(code.slice(item.end))?.[0].length ?? 0;
    const name = code.slice(item.start, item.end);
    const start = local === undefined ? item.start : item.exportStart + head.lastIndexOf(local);
    const from = item.type === "reexport" && item.importName !== null ? { specifier: item.from, name: item.importName } : undefined;
    names.push({ local: local ?? name, start, end: item.end + comma, ...(from && { from }) });
  }
  return { lists: [...lists.values()], names };
}

/** Runtime exports of the file behind a specifier; undefined where that is not known. */
export type ExportsOf = (specifier: string) => ReadonlySet<string> | undefined;

/**
 * Takes away imported names that no code uses: in TypeScript they are types, as its own compiler assumes. Mentions in texts and
 * comments count as use unless `exact`, which trusts the tokens and is for code that does not link otherwise; it also takes away
 * exported names that were types. Nothing moves.
 */
export function withoutUnusedImports(code: string, lexed: Lexed, exact: boolean, exportsOf: ExportsOf): string {
  const clauses = clausesOf(code, lexed[0]);
  const listed = exact ? listedExports(code, lexed[1]) : { lists: [], names: [] };
  if (clauses.length === 0 && listed.names.length === 0) return code;
  const statements = clauses.map(({ statement }) => ({ start: statement.importStart, end: statement.importEnd }));
  const used = wordsUsed(code, [...statements, ...listed.lists], exact);
  const dropped: Span[] = [];
  const lacks = (specifier: string, name: string): boolean => exportsOf(specifier)?.has(name) === false;
  for (const item of listed.names) {
    if (item.from ? lacks(item.from.specifier, item.from.name) : !used.has(item.local)) dropped.push(item);
    else used.add(item.local);
  }
  for (const [i, clause] of clauses.entries()) {
    const { statement, names, isExport } = clause;
    if (isExport && !exact) continue;
    const unused = names.filter(({ imported, local }) => (isExport ? imported !== "*" && lacks(statement.specifier, imported) : !used.has(local)));
    if (clause.emptied || (names.length > 0 && unused.length === names.length)) dropped.push(statements[i]!);
    else for (const name of unused) dropped.push(spanOf(code, clause, name));
  }
  return withChanges(
    code,
    dropped.map((span) => spaces(code, span)),
  );
}

/** A name goes with the comma after it; the star of `D, * as ns` with the comma before it. */
function spanOf(code: string, clause: Clause, { start, end, imported }: Name): Span {
  return imported === "*" && clause.names.length > 1 ? { start: code.lastIndexOf(",", start), end } : { start, end };
}

/** Names that the file takes from the SDK. */
export function sdkNamesOf(code: string, imports: readonly Import[]): SdkName[] {
  const found: SdkName[] = [];
  for (const { statement, names } of clausesOf(
    code,
    imports.filter((item) => item.type !== "import-meta" && item.type !== "dynamic" && isSdk(item.specifier)),
  )) {
    const { specifier } = statement;
    const named = names.filter(({ imported }) => imported !== "*");
    if (named.length === 0) found.push({ specifier, line: lineAt(code, statement.importStart) });
    for (const { imported, start } of named) found.push({ specifier, name: imported, line: lineAt(code, start) });
  }
  return found;
}
