import { reveal, revealLine } from "../text/clean.ts";
import { DIM, span, wrap, type Line, type Style } from "../text/line.ts";
import { fit } from "../text/width.ts";
import { DECISIONS, type Approval, type State } from "../state/state.ts";

const WORDS = { "allow-once": "[y] allow once", "allow-always": "[a] always allow", deny: "[n] deny" } as const;
const EDGE: Style = { colour: "yellow" };

function options(approval: Approval, focus: State["focus"]): Line {
  if (approval.deciding !== undefined) return [span(`${approval.deciding} …`, DIM)];
  if (focus?.id !== approval.id) return [span("Tab to decide: ", DIM), span(DECISIONS.map((decision) => WORDS[decision]).join("   "))];
  return DECISIONS.flatMap((decision, index) => [
    span(index === focus.choice ? `›${WORDS[decision]}‹` : ` ${WORDS[decision]} `, index === focus.choice ? { inverse: true, bold: true } : undefined),
    span("  "),
  ]);
}

/** A question about a command: exactly what will run and where, with nothing hidden and nothing left out. */
export function approvalLines(
  approval: Approval,
  columns: number,
  at: { readonly focus: State["focus"]; readonly sessionKey: string; readonly now: number },
): Line[] {
  const available = Math.max(8, columns - 2);
  const fact = (name: string, value: string | undefined): Line[] =>
    value === undefined || value === "" ? [] : wrap([span(`${name} `, DIM), span(revealLine(value))], available, { exact: true });
  const seconds = Math.max(0, Math.ceil((approval.expiresAt - at.now) / 1000));
  const rule = "─".repeat(Math.max(0, Math.min(columns, 60) - 2));
  const elsewhere = approval.sessionKey !== undefined && approval.sessionKey !== at.sessionKey;
  const body: Line[] = [
    ...wrap([span("May this run?", { bold: true }), span(`  ${seconds} s left`, DIM)], available),
    ...reveal(approval.command)
      .split("\n")
      .flatMap((row) => wrap([span(row, { bold: true })], available, { exact: true })),
    ...fact("program", approval.resolvedPath),
    ...fact("in", approval.cwd),
    ...fact("on", approval.host),
    ...(elsewhere ? fact("session", approval.sessionKey) : []),
    ...fact("env:", approval.environment ?? ""),
    ...(approval.always ?? "").split("\n").flatMap((line) => fact("always:", line)),
    ...wrap(options(approval, at.focus), available),
  ];
  return [[span(`╭─${fit(rule, columns)}`, EDGE)], ...body.map((line) => [span("│ ", EDGE), ...line]), [span(`╰─${fit(rule, columns)}`, EDGE)]];
}
