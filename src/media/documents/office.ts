/** Text of office files: Word, Excel, PowerPoint and OpenDocument. Runs in the thread for documents. */
import { type Archive, openArchive } from "./archive.ts";
import { DocumentProblem } from "./problem.ts";
import type { DocumentLimits, DocumentText } from "./types.ts";
import { attributeOf, xmlTokens } from "./xml.ts";

/** Collects text up to a limit. */
function createCollector(maxChars: number) {
  const parts: string[] = [];
  let chars = 0;
  let isCut = false;
  return {
    add(text: string): void {
      const left = maxChars - chars;
      if (text.length > left) isCut = true;
      if (left <= 0) return;
      parts.push(text.slice(0, left));
      chars += Math.min(text.length, left);
    },
    isFull: () => isCut,
    result: (): DocumentText => ({
      text: parts
        .join("")
        .replaceAll(/(?<![ \t])[ \t]+\n/g, "\n")
        .replaceAll(/\n{3,}/g, "\n\n")
        .trim(),
      truncated: isCut,
    }),
  };
}

type Collector = ReturnType<typeof createCollector>;

/** What elements mean for the text: what is added when one begins or ends. Text counts only inside of `textIn`; everywhere when there is none. */
interface Rules {
  readonly textIn?: string;
  readonly begins?: Readonly<Record<string, string>>;
  readonly ends?: Readonly<Record<string, string>>;
  /** Elements whose content is not shown. */
  readonly without?: readonly string[];
  /** Elements of a table: each row is a line of comma-separated values. */
  readonly table?: { readonly row: string; readonly cell: string };
}

const WORD: Rules = {
  textIn: "w:t",
  begins: { "w:tab": "\t", "w:br": "\n", "w:cr": "\n" },
  ends: { "w:p": "\n" },
  without: ["w:del"],
  table: { row: "w:tr", cell: "w:tc" },
};
const SLIDE: Rules = { textIn: "a:t", begins: { "a:br": "\n" }, ends: { "a:p": "\n" }, table: { row: "a:tr", cell: "a:tc" } };
const OPEN_TEXT: Rules = {
  begins: { "text:tab": "\t", "text:line-break": "\n", "text:s": " " },
  ends: { "text:p": "\n", "text:h": "\n", "text:list-item": "\n", "draw:page": "\n" },
  without: ["text:tracked-changes", "office:annotation", "office:scripts", "office:styles", "office:automatic-styles"],
  table: { row: "table:table-row", cell: "table:table-cell" },
};

const oneLine = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ");

/** Puts the cells of a table into lines. What stands in a table inside of a cell is part of that cell. */
function createTable(out: Collector, table: Rules["table"]) {
  let rows = 0;
  let cells = 0;
  let row: string[] = [];
  let cell = "";
  return {
    add(text: string): void {
      if (cells > 0) cell += text;
      else out.add(text);
    },
    open(name: string, isEmpty: boolean): void {
      if (name === table?.cell && isEmpty && cells === 0) row.push("");
      if (isEmpty) return;
      if (name === table?.row) rows += 1;
      else if (name === table?.cell) cells += 1;
    },
    close(name: string): void {
      if (name === table?.cell && cells > 0) {
        cells -= 1;
        if (cells > 0) return;
        row.push(asCell(oneLine(cell)));
        cell = "";
      } else if (name === table?.row && rows > 0) {
        rows -= 1;
        if (rows > 0) return;
        if (row.some((text) => text !== "")) out.add(`${row.join(",")}\n`);
        row = [];
      }
    },
  };
}

function addXml(collector: Collector, xml: string, { textIn, begins = {}, ends = {}, without = [], table }: Rules): void {
  const out = createTable(collector, table);
  let inText = 0;
  let hidden = 0;
  for (const token of xmlTokens(xml)) {
    if (collector.isFull()) return;
    if (token.type === "text") {
      if (hidden === 0 && (textIn === undefined ? token.text.trim() !== "" : inText > 0)) out.add(token.text);
    } else if (token.type === "open") {
      if (without.includes(token.name) && !token.isEmpty) hidden += 1;
      if (token.name === textIn && !token.isEmpty) inText += 1;
      const begin = begins[token.name];
      if (begin !== undefined && hidden === 0) out.add(begin);
      out.open(token.name, token.isEmpty);
    } else {
      if (without.includes(token.name)) hidden = Math.max(0, hidden - 1);
      if (token.name === textIn) inText = Math.max(0, inText - 1);
      const end = ends[token.name];
      if (end !== undefined && hidden === 0) out.add(end);
      out.close(token.name);
    }
  }
}

/** `slide2.xml` before `slide10.xml`. */
const numbered = (names: readonly string[], pattern: RegExp): readonly string[] =>
  names
    .flatMap((name) => {
      const number = pattern.exec(name)?.[1];
      return number === undefined ? [] : [{ name, number: Number(number) }];
    })
    .toSorted((a, b) => a.number - b.number)
    .map(({ name }) => name);

async function readSlides(archive: Archive, out: Collector): Promise<void> {
  for (const [index, name] of numbered(archive.names, /^ppt\/slides\/slide(\d+)\.xml$/).entries()) {
    if (out.isFull()) return;
    out.add(`\n## Slide ${index + 1}\n`);
    addXml(out, await archive.text(name), SLIDE);
    const notes = await archive.text(`ppt/notesSlides/notesSlide${index + 1}.xml`);
    if (notes === "") continue;
    out.add("\nNotes:\n");
    addXml(out, notes, SLIDE);
  }
}

/** Texts that cells refer to by number. */
function sharedTexts(xml: string): readonly string[] {
  const found: string[] = [];
  let current: string | undefined;
  let inText = false;
  for (const token of xmlTokens(xml)) {
    if (token.type === "text") {
      if (inText && current !== undefined) current += token.text;
    } else if (token.type === "open") {
      if (token.name === "si") {
        if (token.isEmpty) found.push("");
        else current = "";
      } else if (token.name === "t") inText = !token.isEmpty;
    } else if (token.name === "si") {
      found.push(current ?? "");
      current = undefined;
    } else if (token.name === "t") inText = false;
  }
  return found;
}

/** `C` of `C7` is column 2. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? "")?.[0];
  if (letters === undefined) return undefined;
  let column = 0;
  for (const letter of letters) column = column * 26 + (letter.charCodeAt(0) - 64);
  return column - 1;
}

const asCell = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
/** Empty cells in front of one are shown up to here. */
const MOST_COLUMNS = 200;

/** Rows as comma-separated values. */
function addSheet(out: Collector, xml: string, shared: readonly string[]): void {
  let row: string[] = [];
  let cell: { text: string; readonly type: string | undefined; readonly column: number } | undefined;
  let inValue = false;
  for (const token of xmlTokens(xml)) {
    if (out.isFull()) return;
    if (token.type === "text") {
      if (inValue && cell) cell.text += token.text;
    } else if (token.type === "open") {
      if (token.name === "row") row = [];
      else if (token.name === "c" && !token.isEmpty) {
        cell = { text: "", type: attributeOf(token.attributes, "t"), column: columnOf(attributeOf(token.attributes, "r")) ?? row.length };
      } else if (token.name === "v" || token.name === "t") inValue = !token.isEmpty;
    } else if (token.name === "v" || token.name === "t") inValue = false;
    else if (token.name === "c" && cell) {
      while (row.length < Math.min(cell.column, MOST_COLUMNS)) row.push("");
      row.push(asCell(cell.type === "s" ? (shared[Number(cell.text)] ?? "") : cell.text));
      cell = undefined;
    } else if (token.name === "row" && row.length > 0) out.add(`${row.join(",")}\n`);
  }
}

async function readSheets(archive: Archive, out: Collector): Promise<void> {
  const names: string[] = [];
  for (const token of xmlTokens(await archive.text("xl/workbook.xml"))) {
    if (token.type === "open" && token.name === "sheet") names.push(attributeOf(token.attributes, "name") ?? "");
  }
  const shared = sharedTexts(await archive.text("xl/sharedStrings.xml"));
  for (const [index, name] of numbered(archive.names, /^xl\/worksheets\/sheet(\d+)\.xml$/).entries()) {
    if (out.isFull()) return;
    out.add(`\n## ${names[index] || `Sheet ${index + 1}`}\n`);
    addSheet(out, await archive.text(name), shared);
  }
}

/** Spreadsheets of OpenDocument: a line for each row. */
const OPEN_SHEET: Rules = { ...OPEN_TEXT, ends: { ...OPEN_TEXT.ends, "table:table": "\n" } };

export async function readOffice(data: Uint8Array, { maxChars }: DocumentLimits): Promise<DocumentText> {
  const archive = await openArchive(data);
  const out = createCollector(maxChars);
  const has = (name: string): boolean => archive.names.includes(name);
  if (has("word/document.xml")) {
    for (const part of ["word/document.xml", "word/footnotes.xml", "word/endnotes.xml"]) addXml(out, await archive.text(part), WORD);
  } else if (has("xl/workbook.xml")) await readSheets(archive, out);
  else if (has("ppt/presentation.xml")) await readSlides(archive, out);
  else if (has("content.xml")) {
    const isSheet = (await archive.text("mimetype")).includes("spreadsheet");
    addXml(out, await archive.text("content.xml"), isSheet ? OPEN_SHEET : OPEN_TEXT);
  } else throw new DocumentProblem("the archive is not an office file");
  return out.result();
}
