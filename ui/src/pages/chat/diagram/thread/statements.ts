/** One statement of a diagram's source. */
export interface Statement {
  readonly text: string;
  /** Where it begins, from 1. */
  readonly line: number;
}

/** A diagram as the renderer reads it. */
export interface Prepared {
  readonly kind: DiagramKind;
  readonly text: string;
  readonly title?: string;
  /** What is not in it, because it is not drawn. */
  readonly left: readonly Statement[];
}

export type DiagramKind = "flowchart" | "state" | "sequence" | "class" | "er" | "chart";

/** Why a diagram is not drawn. */
export type Refusal = "kind" | "large" | "time" | "broken" | "empty";

/** A diagram that is not drawn, and why. */
export class NotDrawn extends Error {
  readonly why: Refusal;
  /** The kind that is not known. */
  readonly detail: string;

  constructor(why: Refusal, detail = "") {
    super(`the diagram is not drawn: ${why} ${detail}`);
    this.why = why;
    this.detail = detail;
  }
}

/** Statements of a diagram: lines, and what `;` separates in them where that is asked for. Text in quotes holds both. Comments are left out. */
export function statementsOf(source: string, firstLine: number, semicolons: boolean): readonly Statement[] {
  const found: Statement[] = [];
  let text = "";
  let line = firstLine;
  let begins = firstLine;
  let quoted = false;
  const end = (): void => {
    const whole = text.trim();
    if (whole !== "" && !whole.startsWith("%%")) found.push({ text: whole, line: begins });
    text = "";
    quoted = false;
    begins = line;
  };
  const lines = source.split("\n");
  for (const [at, one] of lines.entries()) {
    line = firstLine + at;
    if (text.trim() === "") begins = line;
    if (!quoted && one.trimStart().startsWith("%%")) continue;
    for (const letter of one) {
      // `"` opens a text only where another one closes it: inches are no quotes.
      if (letter === '"') quoted = quoted ? false : semicolons;
      if (letter === ";" && semicolons && !quoted && !/[&#]#?\w{1,8}$/.test(text)) {
        end();
        continue;
      }
      text += letter;
    }
    if (quoted && lines.slice(at + 1, at + 6).some((next) => next.includes('"'))) {
      text += "\n";
      continue;
    }
    line += 1;
    end();
  }
  end();
  return found;
}
