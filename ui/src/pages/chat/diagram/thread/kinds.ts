import { hidden } from "./label.ts";
import { NotDrawn, type DiagramKind, type Prepared, type Statement } from "./statements.ts";

/** What a line becomes for the renderer: nothing where it changes only how a diagram behaves, undefined where it is not drawn. */
type Line = (text: string) => readonly string[] | undefined;

const MOST_LINES = 500;

/** Styles and links, which are not drawn, and nobody misses. */
const SILENT = /^(?:accTitle|accDescr|hide empty description|click|link|callback|href|style|cssClass|classDef|class\s+[\w,]+\s+\w+$|scale\b)/;

const labelled = (text: string | undefined): string => (text === undefined ? "" : ` : ${hidden(text.replace(/^"([\s\S]*)"$/, "$1")) || "\u200b"}`);

/** A name as the renderer reads it: letters, digits and `_`. */
function named(): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    const plain = name.replaceAll(/[^\p{L}\p{N}_]/gu, "_");
    const other = [...known].some(([source, taken]) => taken === plain && source !== name);
    const chosen = known.get(name) ?? (other ? `${plain}_${known.size}` : plain);
    known.set(name, chosen);
    return chosen;
  };
}

const END = "(\\[\\*\\]|[\\p{L}\\p{N}_.-]+)(?::::\\w+)?";
const TRANSITION = new RegExp(`^${END}\\s*-->\\s*${END}(?:\\s*:\\s*([\\s\\S]+))?$`, "u");
const STATE = /^state\s+(?:"([^"]+)"\s+as\s+)?([\p{L}\p{N}_.-]+)\s*(\{|<<(\w+)>>)?$/u;
const MARKS: Readonly<Record<string, string>> = { choice: "◇", fork: "▬", join: "▬" };

function stateLines(): Line {
  const name = named();
  const seen = new Set<string>();
  const at = (end: string): string => (end === "[*]" ? end : name(end));
  return (text) => {
    if (text === "}" || /^direction\s+\w\w$/i.test(text)) return [text];
    const [, from, to, label] = TRANSITION.exec(text) ?? [];
    if (from !== undefined && to !== undefined) {
      // A name that is not plain is still read.
      const ends = [from, to].filter((end) => end !== "[*]" && name(end) !== end && !seen.has(end));
      ends.forEach((end) => seen.add(end));
      return [...ends.map((end) => `state "${hidden(end)}" as ${name(end)}`), `${at(from)} --> ${at(to)}${labelled(label)}`];
    }
    const [, title, id, opens, mark] = STATE.exec(text) ?? [];
    if (id !== undefined) {
      seen.add(id);
      if (opens === "{") return [`state "${hidden(title ?? id)}" as ${name(id)} {`];
      return [`state "${mark === undefined ? hidden(title ?? id) : (MARKS[mark] ?? id)}" as ${name(id)}`];
    }
    const [, described, words] = /^([\p{L}\p{N}_.-]+)\s*:\s*([\s\S]+)$/u.exec(text) ?? [];
    if (described === undefined) return undefined;
    seen.add(described);
    return [`state "${hidden(words ?? "")}" as ${name(described)}`];
  };
}

const RELATION =
  /^(\S+?)\s*(?:"([^"]*)"\s*)?(<\|--|<\|\.\.|\*--|o--|-->|--\*|--o|--\|>|\.\.>|\.\.\|>|<--|<\.\.|--|\.\.)\s*(?:"([^"]*)"\s*)?([^\s:]+)(?:\s*:\s*([\s\S]+))?$/;

function classLines(): Line {
  let inside = 0;
  const name = (text: string): string => text.replace(/^`(.+)`$/, "$1").replaceAll(/\s+/g, "_");
  return (text) => {
    if (inside > 0 && text === "}") {
      inside -= 1;
      return [text];
    }
    const block = /^(class|namespace)\s+(`[^`]+`|[^\s{[~]+)(?:~([^~]+)~)?(?:\["([^"]+)"\])?(?::::\w+)?\s*(\{)?$/.exec(text);
    if (block) {
      if (block[5] !== undefined) inside += 1;
      const generic = block[3] === undefined ? "" : `~${block[3].replaceAll(/\W/g, "_")}~`;
      return [`${block[1]} ${name(block[2]!)}${generic}${block[5] === undefined ? "" : " {"}`];
    }
    const inner = /^class\s+(\S+)\s*\{(.*)\}$/.exec(text);
    if (inner) return [`class ${name(inner[1]!)} {`, ...inner[2]!.split(";").map((member) => hidden(member)), "}"];
    if (inside > 0) return [/^<<\w+>>$/.test(text) ? text : members(text)];
    const kind = /^<<(\w+)>>\s+(\S+)$/.exec(text);
    if (kind) return [`class ${name(kind[2]!)} {`, `<<${kind[1]}>>`, "}"];
    const [, from, fromCount, arrow = "", toCount, to, label] = RELATION.exec(text) ?? [];
    if (from !== undefined && to !== undefined) {
      const count = (words: string | undefined): string => (words === undefined ? "" : `"${hidden(words)}" `);
      const plain = (id: string): string => name(id.replace(/~[^~]*~/g, ""));
      return [`${plain(from)} ${count(fromCount)}${arrow === ".." ? "..>" : arrow} ${count(toCount)}${plain(to)}${labelled(label)}`];
    }
    const member = /^([^\s:]+)\s*:\s*(.+)$/.exec(text);
    return member ? [`${name(member[1]!)} : ${members(member[2]!)}`] : undefined;
  };
}

/** A member keeps its brackets, which the renderer reads. */
const members = (text: string): string => text.replaceAll(/~([^~]*)~/g, "‹$1›").replaceAll(/[<>&"]/g, (letter) => hidden(letter));

const WORDS: readonly (readonly [RegExp, string, string])[] = [
  [/\bonly one\b/gi, "||", "||"],
  [/\bone or (?:more|many)\b/gi, "}|", "|{"],
  [/\bzero or (?:more|many)\b/gi, "}o", "o{"],
  [/\bzero or one\b/gi, "|o", "o|"],
];

function erLines(): Line {
  let inside = false;
  const name = (text: string): string =>
    text
      .replace(/\[.*\]$/, "")
      .replace(/^"(.+)"$/, "$1")
      .replaceAll(/\s+/g, "_");
  const entity = '("[^"]+"|[\\p{L}\\p{N}_-]+)(?:\\["?[^\\]]*\\])?';
  const relation = new RegExp(`^${entity}\\s*([|}o]{2}(?:--|\\.\\.)[|{o]{2})\\s*${entity}(?:\\s*:\\s*([\\s\\S]*))?$`, "u");
  const block = new RegExp(`^${entity}(?:\\["?([^"\\]]*)"?\\])?\\s*(\\{\\s*\\}?)?$`, "u");
  return (text) => {
    if (inside) {
      inside = text !== "}";
      return [text.replaceAll(/[<>&]/g, (letter) => hidden(letter))];
    }
    let spelt = text;
    for (const [words, left, right] of WORDS)
      spelt = spelt.replaceAll(words, (_, at: number) => (/\b(?:optionally )?to\b/.test(spelt.slice(0, at)) ? right : left));
    spelt = spelt.replace(/\s+optionally to\s+/i, "..").replace(/([|}o]{2})\s+to\s+([|{o]{2})/i, "$1--$2");
    const [, from, how, to, label] = relation.exec(spelt) ?? [];
    if (from !== undefined && to !== undefined) return [`${name(from)} ${how} ${name(to)}${labelled(label ?? "")}`];
    const inner = new RegExp(`^${entity}\\s*\\{\\s*([^{}]+?)\\s*(\\})?$`, "u").exec(text);
    if (inner) {
      inside = inner[3] === undefined;
      return [`${name(inner[1]!)} {`, inner[2]!.replaceAll(/[<>&]/g, (letter) => hidden(letter)), ...(inside ? [] : ["}"])];
    }
    const head = block.exec(text);
    if (!head) return undefined;
    inside = head[3] !== undefined && !head[3].includes("}");
    return inside ? [`${name(head[1]!)} {`] : [`${name(head[1]!)} {`, "}"];
  };
}

const CHART = /^(?:title|x-axis|y-axis|bar|line)\b/;

function chartLines(): Line {
  let values = 0;
  return (text) => {
    const [, what, numbers] = /^(bar|line)\s+(?:"[^"]*"\s*)?\[([^\]]*)\]$/.exec(text) ?? [];
    if (what !== undefined) {
      values += 1;
      const list = numbers!.split(",").map(Number);
      if (values > 12 || list.length > 200 || list.some((value) => !Number.isFinite(value))) throw new NotDrawn("broken");
      return [`${what} [${list.join(", ")}]`];
    }
    if (!CHART.test(text)) return undefined;
    const title = /^title\s+([^"].*)$/.exec(text);
    return [title ? `title "${title[1]!.replaceAll('"', "'")}"` : text.replaceAll(/[<&]/g, (letter) => hidden(letter))];
  };
}

const LINES: Readonly<Record<Exclude<DiagramKind, "flowchart" | "sequence">, { readonly head: string; readonly lines: () => Line }>> = {
  state: { head: "stateDiagram-v2", lines: stateLines },
  class: { head: "classDiagram", lines: classLines },
  er: { head: "erDiagram", lines: erLines },
  chart: { head: "xychart-beta", lines: chartLines },
};

/** A diagram of another kind as the renderer takes it: line by line. */
export function preparedLines(kind: keyof typeof LINES, head: string, statements: readonly Statement[]): Prepared {
  if (statements.length > MOST_LINES) throw new NotDrawn("large");
  const lines = LINES[kind].lines();
  const left: Statement[] = [];
  const text = statements.slice(1).flatMap((statement) => {
    if (SILENT.test(statement.text)) return [];
    if (kind !== "state" && /^direction\s+\w\w$/i.test(statement.text)) return [];
    const written = lines(statement.text);
    if (!written) left.push(statement);
    return written ?? [];
  });
  if (text.length === 0) throw new NotDrawn("empty");
  // The renderer takes the first name of a state that it reads, people mean the last.
  const names = new Map<string, string>();
  for (const line of kind === "state" ? text : []) {
    const id = /^state ".*" as (\S+)$/.exec(line)?.[1];
    if (id !== undefined) names.set(id, line);
  }
  return { kind, text: [`${LINES[kind].head}${/\bhorizontal\b/.test(head) ? " horizontal" : ""}`, ...names.values(), ...text].join("\n"), left };
}
