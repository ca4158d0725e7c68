import { preparedFlowchart } from "./flowchart.ts";
import { preparedLines } from "./kinds.ts";
import { withoutHidden } from "./label.ts";
import { preparedSequence } from "./sequence.ts";
import { NotDrawn, statementsOf, type Prepared } from "./statements.ts";

/** Characters of a diagram's source at most. */
const MOST = 30_000;
const LONGEST_LINE = 2000;

/** Without settings of the diagram, which would change how all of the page's diagrams look: `---` … `---` and `%%{ … }%%`. Lines keep their numbers. */
function withoutSettings(source: string): { readonly body: string; readonly title: string } {
  const front = /^\s*---[ \t]*\n([\s\S]*?)\n[ \t]*---[ \t]*(?:\n|$)/.exec(source);
  const title = /^title:\s*["']?(.*?)["']?\s*$/m.exec(front?.[1] ?? "")?.[1] ?? "";
  const blank = (text: string): string => text.replaceAll(/[^\n]/g, "");
  const rest = front ? blank(front[0]) + source.slice(front[0].length) : source;
  return { body: rest.replaceAll(/%%\{[\s\S]{0,5000}?\}%%/g, blank), title };
}

/** Reads a diagram's source, and writes it again as the renderer takes it. Throws `NotDrawn`. */
export function prepare(source: string): Prepared {
  if (source.length > MOST || source.split("\n").some((line) => line.length > LONGEST_LINE)) throw new NotDrawn("large");
  const { body, title } = withoutSettings(withoutHidden(source.replaceAll("\r", "")));
  const rough = statementsOf(body, 1, false);
  const head = rough[0]?.text.split(";")[0]?.trim() ?? "";
  if (head === "") throw new NotDrawn("empty");
  const prepared = preparedAs(head, body);
  return { ...prepared, ...(title === "" || prepared.title !== undefined ? {} : { title }) };
}

function preparedAs(head: string, body: string): Prepared {
  const word = /^[\w-]+/.exec(head)?.[0].toLowerCase() ?? "";
  switch (word) {
    case "graph":
    case "flowchart":
    case "flowchart-elk": {
      const statements = statementsOf(body, 1, true);
      return preparedFlowchart(statements[0]?.text ?? head, statements);
    }
    case "sequencediagram":
      return preparedSequence(statementsOf(body, 1, false));
    case "statediagram":
    case "statediagram-v2":
      return preparedLines("state", head, statementsOf(body, 1, false));
    case "classdiagram":
    case "classdiagram-v2":
      return preparedLines("class", head, statementsOf(body, 1, false));
    case "erdiagram":
      return preparedLines("er", head, statementsOf(body, 1, false));
    case "xychart":
    case "xychart-beta":
      return preparedLines("chart", head, statementsOf(body, 1, false));
    default:
      throw new NotDrawn("kind", head.slice(0, 40));
  }
}
