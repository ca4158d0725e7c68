import { hidden } from "./label.ts";
import { NotDrawn, type Prepared, type Statement } from "./statements.ts";
import { readStyles, styleText, type Styles } from "./styles.ts";

/** Nodes and edges of one diagram at most. */
const MOST_NODES = 400;
const MOST_EDGES = 800;

/** Opening and closing mark in Mermaid, and the pair that the renderer is given. The longest come first. */
const SHAPES: readonly (readonly [open: string, closes: readonly string[], drawn: readonly [string, string]])[] = [
  ["(((", [")))"], ["(((", ")))"]],
  ["([", ["])"], ["([", "])"]],
  ["[[", ["]]"], ["[[", "]]"]],
  ["[(", [")]"], ["[(", ")]"]],
  ["((", ["))"], ["((", "))"]],
  ["{{", ["}}"], ["{{", "}}"]],
  ["[/", ["\\]", "/]"], ["[/", "\\]"]],
  ["[\\", ["/]", "\\]"], ["[\\", "/]"]],
  ["(-", ["-)"], ["([", "])"]],
  [">", ["]"], [">", "]"]],
  ["[", ["]"], ["[", "]"]],
  ["(", [")"], ["(", ")"]],
  ["{", ["}"], ["{", "}"]],
];

/** Shapes by name, as in `A@{ shape: diam }`. Others are boxes. */
const NAMED: Readonly<Record<string, readonly [string, string]>> = Object.fromEntries(
  (
    [
      ["diam diamond decision question", "{", "}"],
      ["rounded event", "(", ")"],
      ["stadium pill terminal", "([", "])"],
      ["cyl cylinder database db", "[(", ")]"],
      ["circle circ sm-circ", "((", "))"],
      ["dbl-circ double-circle", "(((", ")))"],
      ["hex hexagon prepare", "{{", "}}"],
      ["fr-rect subproc subprocess subroutine", "[[", "]]"],
      ["trap-b trapezoid priority", "[/", "\\]"],
      ["trap-t inv-trapezoid manual", "[\\", "/]"],
      ["odd", ">", "]"],
    ] as const
  ).flatMap(([names, open, close]) => names.split(" ").map((name) => [name, [open, close]] as const)),
);

interface Node {
  label: string;
  shape: readonly [string, string];
  group: Group | undefined;
}

interface Group {
  readonly id: string;
  readonly label: string;
  readonly parent: Group | undefined;
  direction?: string;
}

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly arrow: string;
  readonly label: string;
}

const ID = /^(?:[\p{L}\p{N}_!#$%'*+.?\\/:]|-(?![-.>])|=(?!=))+/u;
const LINK = /^(<|[xo](?=[-=]))?(?:--+([->xo])|==+([=>xo])|-\.+-([>xo])?|(~~~+))/;
const TEXT_LINK = /^(<|[xo](?=[-=]))?(--|==|-\.)\s*([^\s>-][\s\S]{0,400}?)\s*(?:--+([->xo])|==+([=>xo])|\.+-([>xo])?)/;
const SILENT = /^(?:click|href|accTitle|accDescr|linkStyle\s+default\s+interpolate)\b/;

function arrowOf(start: string | undefined, head: string | undefined, how: "-" | "=" | "."): string {
  const points = head === ">" || head === "x";
  const back = start === "<" && points ? "<" : "";
  if (how === "=") return points ? `${back}==>` : "===";
  if (how === ".") return points ? `${back}-.->` : "-.-";
  return points ? `${back}-->` : "---";
}

/** Reads a flowchart and writes it again so that the renderer takes all of it: nodes where they stand, edges behind them. */
class Flowchart {
  readonly nodes = new Map<string, Node>();
  readonly groups: Group[] = [];
  readonly edges: Edge[] = [];
  readonly left: Statement[] = [];
  readonly styles = { classes: new Map<string, Styles>(), ofNode: new Map<string, Styles>(), links: new Map<string, Styles>() };
  private group: Group | undefined;
  private rest = "";

  read(statements: readonly Statement[]): void {
    for (const statement of statements) {
      const [nodes, edges] = [this.nodes.size, this.edges.length];
      if (!this.take(statement.text)) {
        this.left.push(statement);
        // A word that is no part of anything is no node either.
        if (this.edges.length === edges) for (const id of [...this.nodes.keys()].slice(nodes)) this.nodes.delete(id);
      }
      if (this.nodes.size > MOST_NODES || this.edges.length > MOST_EDGES) throw new NotDrawn("large");
    }
  }

  private take(text: string): boolean {
    if (SILENT.test(text)) return true;
    if (/^end$/i.test(text)) {
      this.group = this.group?.parent;
      return true;
    }
    const direction = /^direction\s+(TD|TB|LR|BT|RL)$/i.exec(text)?.[1];
    if (direction !== undefined && this.group) {
      this.group.direction = direction.toUpperCase();
      return true;
    }
    const group = /^subgraph(?:\s+([\s\S]+))?$/.exec(text);
    if (group) return this.open(group[1]?.trim() ?? "");
    return this.style(text) || this.chain(text);
  }

  private open(head: string): boolean {
    const titled = /^([^\s[\]"]+)\s*\[([\s\S]+)\]$/.exec(head);
    const label = (titled?.[2] ?? head).trim().replace(/^"([\s\S]*)"$/, "$1");
    this.group = { id: titled?.[1] ?? label, label: hidden(label), parent: this.group };
    this.groups.push(this.group);
    return true;
  }

  private style(text: string): boolean {
    const { classes, ofNode, links } = this.styles;
    const [, what = "", names = "", values = ""] = /^(classDef|style|linkStyle|class)\s+(\S+(?:\s*,\s*\S+)*)\s+([\s\S]+)$/.exec(text) ?? [];
    const list = names.split(",").map((name) => name.trim());
    if (what === "classDef") for (const name of list) classes.set(name, readStyles(values));
    else if (what === "style") for (const name of list) ofNode.set(name, { ...ofNode.get(name), ...readStyles(values) });
    else if (what === "linkStyle") for (const name of list) links.set(name, readStyles(values));
    else if (what === "class") for (const name of list) this.addClass(name, values.trim());
    return what !== "";
  }

  private readonly classOf = new Map<string, string>();

  private addClass(id: string, name: string): void {
    this.classOf.set(id, name);
  }

  /** `A --> B & C -- text --> D`. False when not all of it is understood; what is, stays. */
  private chain(text: string): boolean {
    this.rest = text.trim();
    let from = this.many();
    if (from.length === 0) return false;
    while (this.rest !== "") {
      const link = this.link();
      if (!link) return false;
      const to = this.many();
      if (to.length === 0) return false;
      if (link.arrow !== "") for (const a of from) for (const b of to) this.edges.push({ from: a, to: b, ...link });
      if (this.edges.length > MOST_EDGES) throw new NotDrawn("large");
      from = to;
    }
    return true;
  }

  private skip(length: number): void {
    this.rest = this.rest.slice(length).trimStart();
  }

  private link(): { readonly arrow: string; readonly label: string } | undefined {
    // A name of the edge: `A e1@--> B`.
    this.skip(/^[\w-]+@(?=[-=~<xo])/.exec(this.rest)?.[0].length ?? 0);
    const plain = LINK.exec(this.rest);
    if (plain) {
      const [whole, start, solid, thick, dotted, none] = plain;
      this.skip(whole.length);
      const how = thick !== undefined ? "=" : solid !== undefined ? "-" : ".";
      const label = /^\|\s*(?:"([^"]*)"|([^|]*))\s*\|/.exec(this.rest);
      this.skip(label?.[0].length ?? 0);
      return { arrow: none === undefined ? arrowOf(start, solid ?? thick ?? dotted, how) : "", label: hidden(label?.[1] ?? label?.[2] ?? "") };
    }
    const texted = TEXT_LINK.exec(this.rest);
    if (!texted) return undefined;
    const [whole, start, begin, words = "", solid, thick, dotted] = texted;
    this.skip(whole.length);
    const how = begin === "==" ? "=" : begin === "-." ? "." : "-";
    return { arrow: arrowOf(start, solid ?? thick ?? dotted, how), label: hidden(words.replace(/^"([\s\S]*)"$/, "$1")) };
  }

  private many(): readonly string[] {
    const ids: string[] = [];
    do {
      if (ids.length > 0) this.skip(1);
      const id = this.node();
      if (id === undefined) return [];
      ids.push(id);
    } while (this.rest.startsWith("&"));
    return ids;
  }

  private node(): string | undefined {
    const found = ID.exec(this.rest)?.[0];
    const id = found?.replace(/:::[\s\S]*$/, "");
    if (id === undefined || id === "") return undefined;
    this.rest = this.rest.slice(id.length);
    const node = this.known(id);
    if (!this.shape(node)) return undefined;
    const name = /^:::(\w+(?:-\w+)*)/.exec(this.rest);
    if (name) this.addClass(id, name[1]!);
    this.skip(name?.[0].length ?? 0);
    return id;
  }

  private known(id: string): Node {
    const node = this.nodes.get(id) ?? { label: hidden(id), shape: ["[", "]"] as const, group: undefined };
    if (!this.groups.some((group) => group.id === id)) {
      node.group ??= this.group;
      this.nodes.set(id, node);
    }
    return node;
  }

  /** The shape and label behind an id, if there are any. False when they do not end. */
  private shape(node: Node): boolean {
    const facts = /^@\{([\s\S]*?)\}/.exec(this.rest);
    if (facts) {
      this.rest = this.rest.slice(facts[0].length);
      const shape = /\bshape\s*:\s*"?([\w-]+)/.exec(facts[1]!)?.[1];
      const label = /\blabel\s*:\s*(?:"([^"]*)"|([^,]+))/.exec(facts[1]!);
      if (shape !== undefined) node.shape = NAMED[shape] ?? ["[", "]"];
      if (label) node.label = hidden(label[1] ?? label[2] ?? "");
      return true;
    }
    const shape = SHAPES.find(([open]) => this.rest.startsWith(open));
    if (!shape) return true;
    const [open, closes, drawn] = shape;
    const after = this.rest.slice(open.length);
    const quoted = /^\s*"([\s\S]*?)"\s*/.exec(after);
    const from = quoted?.[0].length ?? 0;
    const ends = closes.map((close) => ({ close, at: after.indexOf(close, from) })).filter(({ at }) => at >= 0);
    const end = ends.toSorted((a, b) => a.at - b.at)[0];
    if (!end || (quoted && end.at !== from)) return false;
    this.rest = after.slice(end.at + end.close.length);
    node.label = hidden(quoted?.[1] ?? after.slice(0, end.at)) || " ";
    node.shape = drawn;
    return true;
  }

  written(direction: string): string {
    const names = new Map([...this.nodes.keys()].map((id, at) => [id, `n${at}`] as [string, string]));
    const groupNames = new Map(this.groups.map((group, at) => [group, `g${at}`] as const));
    // The name of a group in an edge is the group.
    for (const group of this.groups) names.set(group.id, groupNames.get(group)!);
    const lines = [`flowchart ${direction}`];
    const own = (group: Group | undefined): void => {
      for (const [id, node] of this.nodes) {
        if (node.group === group && !this.groups.some((one) => one.id === id))
          lines.push(`${names.get(id)}${node.shape[0]}${node.label || " "}${node.shape[1]}`);
      }
      for (const child of this.groups.filter(({ parent }) => parent === group)) {
        lines.push(`subgraph ${groupNames.get(child)} [${child.label || " "}]`);
        if (child.direction !== undefined) lines.push(`direction ${child.direction}`);
        own(child);
        lines.push("end");
      }
    };
    own(undefined);
    for (const { from, to, arrow, label } of this.edges) lines.push(`${names.get(from)} ${arrow}${label === "" ? "" : `|${label}|`} ${names.get(to)}`);
    const looks = new Map([...this.nodes.keys()].map((id) => [id, { ...this.styles.classes.get("default"), ...this.lookOf(id) }] as const));
    for (const [id, look] of looks) if (Object.keys(look).length > 0) lines.push(`style ${names.get(id)} ${styleText(look)}`);
    for (const [at, look] of this.styles.links)
      if (/^(?:default|\d{1,4})$/.test(at) && Object.keys(look).length > 0) lines.push(`linkStyle ${at} ${styleText(look)}`);
    return lines.join("\n");
  }

  private lookOf(id: string): Styles {
    return { ...this.styles.classes.get(this.classOf.get(id) ?? ""), ...this.styles.ofNode.get(id) };
  }
}

const DIRECTIONS: Readonly<Record<string, string>> = { ">": "LR", "<": "RL", "^": "BT", v: "TD" };

/** A flowchart as the renderer takes it. */
export function preparedFlowchart(head: string, statements: readonly Statement[]): Prepared {
  const [, direction = "", rest = ""] = /^(?:graph|flowchart(?:-elk)?)\s*(TD|TB|LR|BT|RL|[<>^v](?=\s|$))?\s*([\s\S]*)$/i.exec(head) ?? [];
  const chart = new Flowchart();
  const first = statements[0];
  chart.read(rest === "" || !first ? statements.slice(1) : [{ text: rest, line: first.line }, ...statements.slice(1)]);
  if (chart.nodes.size === 0) throw new NotDrawn("empty");
  return { kind: "flowchart", text: chart.written(DIRECTIONS[direction] ?? (direction === "" ? "TD" : direction.toUpperCase())), left: chart.left };
}
