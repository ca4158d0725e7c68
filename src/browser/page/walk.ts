import type { Names, Roles } from "./describe.ts";
import type { PageElement, PageGlobals, PageNode } from "./dom.ts";

/** Numbers of elements: one keeps its number while it is on the page, and no number is used twice. */
export interface PageRefs {
  /** Elements that are gone lose their numbers; new ones get numbers from here on. */
  begin(next: number): void;
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
export function createRefs(): PageRefs {
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
  readonly isBadSelector: boolean;
}

/** A line that is being made. */
interface Line {
  readonly depth: number;
  readonly ref: string;
  text: string;
  readonly role: string;
}

/** Collects lines. Made inside of the page. */
interface Lines {
  begin(): void;
  /** Text that is shown with the text around it. */
  addText(text: string): void;
  /** Ends a text. */
  flush(depth: number): void;
  add(line: Line): number;
  /** A line with one text below it becomes one line, and so does a row of plain cells. */
  close(at: number, line: Line): void;
  all(): readonly Line[];
}

/** Runs inside of the page: it may use nothing from this file but what it is passed. */
export function createLines({ clean }: Roles): Lines {
  let out: Line[] = [];
  let text = "";
  const isCell = ({ ref, role }: Line): boolean => ref === "" && /cell|header/.test(role);
  return {
    begin() {
      [out, text] = [[], ""];
    },
    addText(more) {
      text += more;
    },
    flush(depth) {
      const shown = clean(text, 2000);
      text = "";
      if (shown !== "") out.push({ depth, ref: "", text: shown, role: "text" });
    },
    add: (line) => out.push(line) - 1,
    close(at, line) {
      const below = out.slice(at + 1, at + 40);
      const [only] = below;
      if (below.length === 1 && only?.role === "text") {
        out.length = at + 1;
        line.text += `: ${only.text}`;
      } else if (line.role === "row" && below.length > 1 && below.length < 39 && below.every((cell) => isCell(cell) && cell.depth === line.depth + 1)) {
        out.length = at + 1;
        line.text += `: ${below.map((cell) => cell.text.replace(/^\S+(?: "[^"]*")?(?:: )?/, "")).join(" | ")}`;
      }
    },
    all: () => out.filter((line) => line.text !== "paragraph" && line.text !== "clickable"),
  };
}

/** Runs inside of the page: it may use nothing from this file but what it is passed. */
export function createWalk(roles: Roles, names: Names, lines: Lines, refs: PageRefs): (options: WalkOptions) => Walked {
  const page = globalThis as unknown as PageGlobals;
  const skipped = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "META", "LINK"]);
  const opaque = new Set(["SELECT", "TEXTAREA", "INPUT", "SVG", "CANVAS", "VIDEO", "AUDIO", "IFRAME", "FRAME", "IMG"]);
  const unnamed = new Set(["", "paragraph", "listitem", "cell", "row", "code"]);
  const usable = "a[href],button,input,select,textarea,[role=button],[onclick]";
  let nodes = 0;
  let isCut = false;
  let limit: WalkOptions = { nextRef: 1, maxNodes: 0, maxMs: 0 };
  let started = 0;
  const isHidden = (element: PageElement): boolean =>
    element.getAttribute("aria-hidden") === "true" || element.checkVisibility?.({ visibilityProperty: true }) === false;
  const childrenOf = (element: PageElement): ArrayLike<PageNode> => {
    if (element.shadowRoot) return element.shadowRoot.childNodes;
    const assigned = element.tagName === "SLOT" ? element.assignedNodes?.({ flatten: true }) : undefined;
    return assigned && assigned.length > 0 ? assigned : element.childNodes;
  };
  const walkChildren = (element: PageElement, depth: number, usableOnly: boolean): void => {
    const children = childrenOf(element);
    for (let at = 0; at < children.length; at += 1) walkNode(children[at]!, depth, usableOnly);
  };
  const walkOptions = ({ options }: PageElement, depth: number): void => {
    const shown = Array.from(options ?? [], (option) => roles.clean(option.textContent ?? "", 40)).slice(0, 20);
    const more = (options?.length ?? 0) > 20 ? " | …" : "";
    if (shown.length > 0) lines.add({ depth, ref: "", text: `options: ${shown.join(" | ")}${more}`, role: "options" });
  };
  /** An element that is nothing by itself. */
  const walkThrough = (element: PageElement, tag: string, depth: number, usableOnly: boolean): void => {
    const isBlock = roles.isBlock(element);
    if (isBlock) lines.flush(depth);
    // The text of a label is the name of its field.
    if (!opaque.has(tag)) walkChildren(element, depth, usableOnly || (tag === "LABEL" && Boolean(element.control)));
    if (isBlock) lines.flush(depth);
  };
  const walkElement = (element: PageElement, depth: number, usableOnly: boolean): void => {
    const tag = element.tagName.toUpperCase();
    if (skipped.has(tag) || (tag === "INPUT" && element.getAttribute("type") === "hidden") || isHidden(element)) return;
    const role = roles.roleOf(element);
    const canUse = roles.isInteractive(element, role);
    if ((role === "" || usableOnly) && !canUse) return walkThrough(element, tag, depth, usableOnly);
    lines.flush(depth);
    const name = unnamed.has(role) ? "" : names.nameOf(element, role);
    const shownRole = role || "clickable";
    const text = `${shownRole}${name === "" ? "" : ` ${JSON.stringify(name)}`}${names.stateOf(element, role)}`;
    const line = { depth, ref: canUse ? String(refs.of(element)) : "", text, role: shownRole };
    const at = lines.add(line);
    const isNamed = roles.isNamedByContent(role);
    if (tag === "SELECT") walkOptions(element, depth + 1);
    else if (!opaque.has(tag) && (!isNamed || element.querySelector(usable))) walkChildren(element, depth + 1, isNamed);
    lines.flush(depth + 1);
    lines.close(at, line);
  };
  const walkNode = (node: PageNode, depth: number, usableOnly: boolean): void => {
    nodes += 1;
    isCut ||= nodes > limit.maxNodes || depth > 60 || (nodes % 256 === 0 && performance.now() - started > limit.maxMs);
    if (isCut) return;
    if (node.nodeType === 3) lines.addText(usableOnly ? "" : (node.nodeValue ?? ""));
    else if (node.nodeType === 1) walkElement(node as PageElement, depth, usableOnly);
  };
  return (options) => {
    [nodes, isCut, limit, started] = [0, false, options, performance.now()];
    lines.begin();
    refs.begin(options.nextRef);
    names.begin();
    let root: PageElement | null = null;
    let isBadSelector = false;
    try {
      root = options.selector === undefined ? page.document.body : page.document.querySelector(options.selector);
    } catch {
      isBadSelector = true;
    }
    if (root) walkNode(root, 0, false);
    lines.flush(0);
    const text = lines.all().map((line) => `${line.depth}\t${line.ref}\t${line.text}`);
    return { lines: text.join("\n"), nextRef: refs.next(), isCut, title: roles.clean(page.document.title, 150), found: root !== null, isBadSelector };
  };
}
