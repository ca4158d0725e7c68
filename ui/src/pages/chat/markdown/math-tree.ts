import temml from "temml";

/** A node as temml builds it: an element, a fragment, or text. */
interface TreeNode {
  readonly type?: string;
  readonly text?: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly style?: Readonly<Record<string, unknown>>;
  readonly children?: readonly TreeNode[];
}

const MATHML = "http://www.w3.org/1998/Math/MathML";
const ELEMENTS: ReadonlySet<string> = new Set(
  "math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mtable mtr mtd mpadded mphantom menclose mstyle mmultiscripts mprescripts".split(
    " ",
  ),
);
const ATTRIBUTES: ReadonlySet<string> = new Set(
  "display displaystyle scriptlevel mathvariant stretchy fence separator form lspace rspace movablelimits accent accentunder largeop symmetric minsize maxsize width height depth voffset linethickness columnspan rowspan".split(
    " ",
  ),
);
const STYLES: Readonly<Record<string, string>> = {
  color: "color",
  fontWeight: "font-weight",
  paddingLeft: "padding-left",
  paddingRight: "padding-right",
  textAlign: "text-align",
};
const VALUE = /^[#\w.%\s+-]{1,40}$/;
/** Bounds of one formula: expansions of macros, sizes in em, nodes, and how deep they lie. */
const LIMITS = { maxExpand: 200, maxSize: [20, 20] as [number, number] };
const MOST_NODES = 4000;
const DEEPEST = 60;

/** Builds what is known of MathML, and nothing else: no link, no picture, no script can come of a formula. */
function build(node: TreeNode, into: Element, budget: { left: number }, depth: number): void {
  if ((budget.left -= 1) < 0 || depth > DEEPEST) throw new Error("the formula is too large");
  if (typeof node.text === "string" && node.type === undefined) return into.append(node.text);
  const known = node.type !== undefined && ELEMENTS.has(node.type);
  const element = known ? document.createElementNS(MATHML, node.type) : into;
  for (const child of node.children ?? []) build(child, element, budget, depth + 1);
  if (!known) return;
  for (const [name, value] of Object.entries(node.attributes ?? {}))
    if (ATTRIBUTES.has(name) && VALUE.test(String(value))) element.setAttribute(name, String(value));
  for (const [name, value] of Object.entries(node.style ?? {})) {
    const property = STYLES[name];
    if (property !== undefined && VALUE.test(String(value))) (element as MathMLElement).style.setProperty(property, String(value));
  }
  into.append(element);
}

/** A formula in TeX as an element. Throws when it cannot be read. */
export function formulaOf(source: string, display: boolean): Element {
  const tree = temml.__renderToMathMLTree(source, { ...LIMITS, displayMode: display, throwOnError: true, trust: false, strict: false }) as TreeNode;
  const frame = document.createElementNS(MATHML, "mrow");
  build(tree, frame, { left: MOST_NODES }, 0);
  const [math] = frame.children;
  if (math?.localName !== "math") throw new Error("temml gave no formula");
  math.setAttribute("aria-label", source);
  return math;
}
