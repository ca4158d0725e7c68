import type { Describe } from "./describe.ts";
import type { PageElement, PageGlobals, PageNode } from "./dom.ts";

/** Numbers of elements: one keeps its number while it is on the page, and no number is used twice. */
export interface Refs {
  of(element: PageElement): number;
  find(ref: number): PageElement | null;
  next(): number;
}

export interface WalkOptions {
  /** The number that the next new element gets. */
  readonly nextRef: number;
  /** CSS selector of the element to begin with. */
  readonly selector?: string | undefined;
  readonly maxNodes: number;
  readonly maxMs: number;
}

/** Runs inside of the page: it may use nothing from this file. */
export function createRefs(): Refs & { begin(next: number): void } {
  const numbers = new WeakMap<PageElement, number>();
  const elements = new Map<number, WeakRef<PageElement>>();
  const most = 20_000;
  let next = 1;
  return {
    begin(from) {
      next = Math.max(next, from);
      if (elements.size < most) return;
      for (const [ref, element] of elements) if (element.deref()?.isConnected !== true) elements.delete(ref);
    },
    of(element) {
      const known = numbers.get(element);
      if (known !== undefined && elements.has(known)) return known;
      numbers.set(element, next);
      elements.set(next, new WeakRef(element));
      next += 1;
      return next - 1;
    },
    find(ref) {
      const element = elements.get(ref)?.deref();
      return element?.isConnected === true ? element : null;
    },
    next: () => next,
  };
}

/** Lines of the page's outline, each `depth TAB ref TAB text`; ref is empty where there is nothing to use. */
export interface Walked {
  readonly lines: string;
  readonly nextRef: number;
  /** Nodes that were left out because the page is too large. */
  readonly isCut: boolean;
  readonly title: string;
  readonly found: boolean;
}

/** Runs inside of the page: it may use nothing from this file but what it is passed. */
export function createWalk(describe: Describe, refs: Refs & { begin(next: number): void }): (options: WalkOptions) => Walked {
  const page = globalThis as unknown as PageGlobals;
  interface Line {
    readonly depth: number;
    readonly ref: string;
    text: string;
    readonly role: string;
  }
  const skipped = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "META", "LINK"]);
  const opaque = new Set(["SELECT", "TEXTAREA", "INPUT", "SVG", "CANVAS", "VIDEO", "AUDIO", "IFRAME", "FRAME", "IMG"]);
  let out: Line[] = [];
  let text = "";
  let nodes = 0;
  let isCut = false;
  let limit: WalkOptions = { nextRef: 1, maxNodes: 0, maxMs: 0 };
  let started = 0;
  const flush = (depth: number): void => {
    const shown = describe.clean(text, 2000);
    text = "";
    if (shown !== "") out.push({ depth, ref: "", text: shown, role: "text" });
  };
  const isHidden = (element: PageElement): boolean =>
    element.getAttribute("aria-hidden") === "true" || (element.checkVisibility !== undefined && !element.checkVisibility({ visibilityProperty: true }));
  const childrenOf = (element: PageElement): ArrayLike<PageNode> => {
    if (element.shadowRoot) return element.shadowRoot.childNodes;
    const assigned = element.tagName === "SLOT" ? element.assignedNodes?.({ flatten: true }) : undefined;
    return assigned && assigned.length > 0 ? assigned : element.childNodes;
  };
  /** A line with one text below it becomes one line, and so does a row of plain cells. */
  const joinLines = (at: number, line: Line): void => {
    const below = out.slice(at + 1);
    const [only] = below;
    if (below.length === 1 && only?.role === "text") {
      out.length = at + 1;
      line.text += `: ${only.text}`;
    } else if (
      line.role === "row" &&
      below.length > 1 &&
      below.every(({ ref, role, depth }) => ref === "" && depth === line.depth + 1 && /cell|header/.test(role))
    ) {
      out.length = at + 1;
      line.text += `: ${below.map((cell) => cell.text.replace(/^\S+(?: "[^"]*")?(?:: )?/, "")).join(" | ")}`;
    }
  };
  const optionsOf = (element: PageElement, depth: number): void => {
    const options = Array.from(element.options ?? []).slice(0, 20);
    if (options.length > 0)
      out.push({
        depth,
        ref: "",
        text: `options: ${options.map((option) => describe.clean(option.textContent ?? "", 40)).join(" | ")}${(element.options?.length ?? 0) > 20 ? " | …" : ""}`,
        role: "options",
      });
  };
  const walkChildren = (element: PageElement, depth: number, usableOnly: boolean): void => {
    const children = childrenOf(element);
    for (let at = 0; at < children.length; at += 1) walkNode(children[at]!, depth, usableOnly);
  };
  const walkElement = (element: PageElement, depth: number, usableOnly: boolean): void => {
    const tag = element.tagName.toUpperCase();
    if (skipped.has(tag) || (tag === "INPUT" && element.getAttribute("type") === "hidden")) return;
    if (isHidden(element)) return;
    const role = describe.roleOf(element);
    const canUse = describe.isInteractive(element, role);
    const isNamed = describe.isNamedByContent(role);
    if ((role === "" && !canUse) || (usableOnly && !canUse)) {
      const isBlock = describe.isBlock(element);
      if (isBlock) flush(depth);
      // The text of a label is the name of its field.
      if (!opaque.has(tag)) walkChildren(element, depth, usableOnly || (tag === "LABEL" && Boolean(element.control)));
      if (isBlock) flush(depth);
      return;
    }
    flush(depth);
    const isPlain = role === "" || role === "paragraph" || role === "listitem" || role === "cell" || role === "row" || role === "code";
    const name = isPlain ? "" : describe.nameOf(element, role);
    const line: Line = { depth, ref: canUse ? String(refs.of(element)) : "", text: "", role: role || "clickable" };
    line.text = `${line.role}${name === "" ? "" : ` ${JSON.stringify(name)}`}${describe.stateOf(element, role)}`;
    const at = out.push(line) - 1;
    if (tag === "SELECT") optionsOf(element, depth + 1);
    else if (!opaque.has(tag) && (!isNamed || element.querySelector("a[href],button,input,select,textarea,[role=button],[onclick]")))
      walkChildren(element, depth + 1, isNamed);
    flush(depth + 1);
    joinLines(at, line);
  };
  const walkNode = (node: PageNode, depth: number, usableOnly: boolean): void => {
    nodes += 1;
    if (isCut || nodes > limit.maxNodes || depth > 60 || (nodes % 256 === 0 && performance.now() - started > limit.maxMs)) {
      isCut = true;
      return;
    }
    if (node.nodeType === 3) text += usableOnly ? "" : (node.nodeValue ?? "");
    else if (node.nodeType === 1) walkElement(node as PageElement, depth, usableOnly);
  };
  return (options) => {
    [out, text, nodes, isCut, limit, started] = [[], "", 0, false, options, performance.now()];
    refs.begin(options.nextRef);
    const root = options.selector === undefined ? page.document.body : page.document.querySelector(options.selector);
    if (root) walkNode(root, 0, false);
    flush(0);
    const lines = out.filter((line) => line.text !== "paragraph" && line.text !== "clickable").map((line) => `${line.depth}\t${line.ref}\t${line.text}`);
    return { lines: lines.join("\n"), nextRef: refs.next(), isCut, title: describe.clean(page.document.title, 150), found: root !== null };
  };
}
