/** The texts in the page's sources: those that go through `t` of `ui/src/words`, and those that should. */
import { parseAst } from "rolldown/parseAst";

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** A text that readers see and that no catalogue has. */
export interface Untranslated {
  readonly kind: "literal" | "template" | "text" | "attribute";
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface PageTexts {
  /** Keys of the catalogue, in the order of the source. */
  readonly keys: readonly string[];
  readonly untranslated: readonly Untranslated[];
}

/** Attributes whose values are read or heard. */
const SHOWN_ATTRIBUTES = new Set(["title", "aria-label", "placeholder", "alt", "label", "heading", "aria-description", "aria-roledescription"]);
/** Fields that hold what is shown, so that one word is a text. */
const SHOWN_FIELDS = new Set(["label", "title", "body", "yes", "no", "hint", "heading", "empty", "placeholder", "name"]);
/** Names of keys, headers and the like that begin with a capital or have a blank, and are no texts. */
const NOT_SHOWN =
  /^(?:Enter|Escape|Tab|Backspace|Delete|Home|End|Arrow\w+|Page(?:Up|Down)|Control|Meta|Shift|Alt|Space|Mac\w*|UTF-8|Error|AbortError|TimeoutError|NotFoundError|QuotaExceededError|NotAllowedError|Text|Node|Element|Bearer|Blob|Infinity|NaN|OpenClaw|Ctrl K|\([\w-]+: .*|(?:min|max|calc|clamp)\(.*)$/s;

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";

function childrenOf(node: Node): readonly Node[] {
  return Object.entries(node).flatMap(([field, value]) =>
    field === "parent" ? [] : Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );
}

const nameOf = (value: unknown): string => (isNode(value) && value.type === "Identifier" ? String(value["name"]) : "");

/** Whether a text reads as one: several words, or one with a capital. */
const isReadable = (text: string): boolean =>
  !NOT_SHOWN.test(text.trim()) && (/[A-Za-z’']{2,}[,.:;!?…]? +[a-zA-Z“(]/.test(text) || /^\s*[A-Z][a-z]{2,}[a-z]*[.…!?:]?\s*$/.test(text));

const hasLetters = (text: string): boolean => /\p{L}{2,}/u.test(text.replaceAll(/&\w+;/g, ""));

/** Pieces of a template with what stands between them. */
interface Quasi {
  readonly start: number;
  readonly text: string;
}

const quasisOf = (quasi: Node): readonly Quasi[] =>
  (quasi["quasis"] as readonly Node[]).map((node) => {
    const text = (node["value"] as { raw: string }).raw;
    // The parser's piece may include the sign in front of it.
    return { start: node.end - node.start > text.length ? node.start + 1 : node.start, text };
  });

/** Texts and shown attributes of an HTML template. Expressions are one character, U+0001, each. */
function* textsOfHtml(pieces: readonly Quasi[]): Generator<Untranslated> {
  // Where each character of the joined text begins and ends in the source.
  const spans: { readonly start: number; readonly end: number }[] = [];
  let joined = "";
  for (const [index, { start, text }] of pieces.entries()) {
    for (let at = start; at < start + text.length; at += 1) spans.push({ start: at, end: at + 1 });
    joined += text;
    const next = pieces[index + 1];
    if (!next) continue;
    spans.push({ start: start + text.length, end: next.start });
    joined += "\uFFFC";
  }
  const place = (from: number, to: number) => ({ start: spans[from]?.start ?? 0, end: spans[to - 1]?.end ?? 0 });
  const token = /<!--[\s\S]*?-->|<style[\s\S]*?<\/style>|<\/?[\w\uFFFC-]+(?:[^<>"']|"[^"]*"|'[^']*')*>|[^<]+/g;
  let isCode = 0;
  for (const match of joined.matchAll(token)) {
    const [whole] = match;
    if (whole.startsWith("<!--") || whole.startsWith("<style")) continue;
    if (!whole.startsWith("<")) {
      if (isCode > 0) continue;
      yield* textRuns(whole, match.index, place);
      continue;
    }
    if (/^<(?:code|kbd|pre)\b/.test(whole)) isCode += 1;
    if (/^<\/(?:code|kbd|pre)\b/.test(whole)) isCode -= 1;
    for (const attribute of whole.matchAll(/\s([\w-]+)="([^"]*)"/g)) {
      const [, name = "", value = ""] = attribute;
      if (!SHOWN_ATTRIBUTES.has(name) || !hasLetters(value.replaceAll("\uFFFC", ""))) continue;
      const from = match.index + attribute.index + attribute[0].length - value.length - 2;
      yield { kind: "attribute", text: value, ...place(from, from + value.length + 2) };
    }
  }
}

function* textRuns(
  text: string,
  index: number,
  place: (from: number, to: number) => { readonly start: number; readonly end: number },
): Generator<Untranslated> {
  if (!hasLetters(text.replaceAll("\uFFFC", " "))) return;
  const lead = /^\s*/.exec(text)![0].length;
  const trimmed = text.trim();
  yield { kind: "text", text: trimmed, ...place(index + lead, index + lead + trimmed.length) };
}

/** Words that are names in every language: of settings, formats, units, products and commands. */
const NAMES = /^(?:\w+\.\w+|Text|Node|ID|Id|OK|ok|CSV|JSON5?|ms|B|kB|MB|GB|TB|min|h|d|s|Esc|Enter|Shift|Tab|OpenClaw|Space|in|of|a|an)$/;

interface Position {
  /** It stands in the content of an element: whatever has letters is read. */
  readonly isContent?: boolean;
  /** The field of an object that this is the value of. */
  readonly field?: string;
  /** Not shown: a type, an import, a key, a comparison. */
  readonly isQuiet?: boolean;
}

/** Calls whose texts are for programs: names of events, methods, errors of our own. */
const QUIET_CALLS =
  /^(?:request|matchMedia|focusIn|literal|unsafeStatic|has|may|querySelector|querySelectorAll|getElementById|addEventListener|removeEventListener|getItem|setItem|removeItem|define|startsWith|endsWith|includes|matches|closest|getAttribute|setAttribute|hasAttribute|createElement|replace|replaceAll|split|join|test|postMessage|Error|TypeError|property|query|import|glob)$/;

const calledName = (callee: unknown): string => (!isNode(callee) ? "" : callee.type === "MemberExpression" ? nameOf(callee["property"]) : nameOf(callee));

/** What an expression is the value of: the text in front of it ends with the attribute. */
function valueOf(before: string): Position {
  const name = /\s([@.?]?[\w-]+)=(?:"[^"]*)?$/.exec(before)?.[1];
  if (name === undefined) return { isContent: before.lastIndexOf(">") >= before.lastIndexOf("<") };
  if (name.startsWith("@")) return {};
  return name.startsWith(".") ? { field: name.slice(1) } : { isQuiet: !SHOWN_ATTRIBUTES.has(name) };
}

class Reader {
  readonly keys: string[] = [];
  readonly untranslated: Untranslated[] = [];

  visit(node: Node, position: Position = {}): void {
    switch (node.type) {
      case "ImportDeclaration":
      case "ExportAllDeclaration":
      case "TSTypeAliasDeclaration":
      case "TSInterfaceDeclaration":
      case "TSTypeAnnotation":
      case "TSTypeParameterInstantiation":
      case "TSAsExpression":
        if (node.type === "TSAsExpression" && isNode(node["expression"])) this.visit(node["expression"], position);
        return;
      case "TaggedTemplateExpression":
        return this.#tagged(node);
      case "Literal":
        return this.#literal(node, position);
      case "TemplateLiteral":
        return this.#template(node, position);
      case "Property":
      case "PropertyDefinition": {
        if (node["computed"] === true && isNode(node["key"])) this.visit(node["key"], { isQuiet: true });
        const field = nameOf(node["key"]) || (isNode(node["key"]) && typeof node["key"]["value"] === "string" ? node["key"]["value"] : "");
        if (isNode(node["value"])) this.visit(node["value"], { field });
        for (const decorator of (node["decorators"] as readonly Node[] | undefined) ?? []) this.visit(decorator, { isQuiet: true });
        return;
      }
      case "CallExpression":
      case "NewExpression":
        return this.#call(node);
      case "BinaryExpression":
        return childrenOf(node).forEach((child) => this.visit(child, { isQuiet: !["+"].includes(String(node["operator"])) }));
      case "SwitchCase":
        if (isNode(node["test"])) this.visit(node["test"], { isQuiet: true });
        return (node["consequent"] as readonly Node[]).forEach((child) => this.visit(child));
      case "MemberExpression":
        return childrenOf(node).forEach((child) => this.visit(child, { isQuiet: true }));
      case "ConditionalExpression":
      case "LogicalExpression":
      case "ParenthesizedExpression":
      case "ArrayExpression":
        return childrenOf(node).forEach((child) => this.visit(child, position));
      default:
        for (const child of childrenOf(node)) this.visit(child);
    }
  }

  #tagged(node: Node): void {
    const [tag, quasi] = [nameOf(node["tag"]), node["quasi"] as Node];
    const pieces = quasisOf(quasi);
    if (tag === "t") this.keys.push(pieces.map(({ text }) => text).reduce((text, piece, at) => `${text}{${at - 1}}${piece}`));
    if (tag === "html" || tag === "svg" || tag === "staticFree") this.untranslated.push(...textsOfHtml(pieces));
    if (tag === "css") return;
    const isHtml = tag === "html" || tag === "svg" || tag === "staticFree";
    let before = "";
    for (const [at, expression] of (quasi["expressions"] as readonly Node[]).entries()) {
      before += pieces[at]?.text ?? "";
      const { isContent = false, ...position } = valueOf(before);
      this.visit(expression, { ...position, isContent: isContent && isHtml });
      before += "\uFFFC";
    }
  }

  #literal(node: Node, { field = "", isQuiet = false, isContent = false }: Position): void {
    const text = node["value"];
    if (isQuiet || typeof text !== "string") return;
    if (
      isReadable(text) ||
      (isContent && hasLetters(text) && !NAMES.test(text.trim())) ||
      field === "plural" ||
      (SHOWN_FIELDS.has(field) && /^[A-Z]/.test(text) && hasLetters(text))
    )
      this.untranslated.push({ kind: "literal", start: node.start, end: node.end, text });
  }

  #template(node: Node, { isQuiet = false, isContent = false }: Position): void {
    const text = quasisOf(node)
      .map((piece) => piece.text)
      .join("\uFFFC");
    const words = text.replaceAll("\uFFFC", " ").trim();
    if (!isQuiet && (isReadable(text.replaceAll("\uFFFC", "x1")) || (isContent && hasLetters(words) && !NAMES.test(words))))
      this.untranslated.push({ kind: "template", start: node.start, end: node.end, text });
    for (const expression of node["expressions"] as readonly Node[]) this.visit(expression);
  }

  #call(node: Node): void {
    const name = calledName(node["callee"]);
    const args = node["arguments"] as readonly Node[];
    if (isNode(node["callee"]) && node["callee"].type !== "Identifier") this.visit(node["callee"], { isQuiet: true });
    const [first] = args;
    if (name === "t" && first?.type === "Literal") {
      this.keys.push(String(first["value"]));
      return;
    }
    for (const argument of args) this.visit(argument, { isQuiet: QUIET_CALLS.test(name), ...(name === "plural" ? { field: "plural" } : {}) });
  }
}

export function pageTexts(code: string): PageTexts {
  const reader = new Reader();
  reader.visit(parseAst(code, { lang: "ts" }) as unknown as Node);
  return reader;
}
