/** `/remember` and `/forget`: what the owner writes down, and what is to be gone. */
import { AppError } from "../../../base/errors.ts";
import { clip } from "../../../base/text.ts";
import { PREVIEW_HEADS } from "../../../memory/index.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { buttonsFor } from "../../buttons.ts";
import { notThere, wordsOf, type Answer, type Handler, type Handling } from "../handling.ts";
import type { MemoryPort } from "../ports.ts";

const SHOWN = 20;
const LINE_CHARS = 160;
/** A confirmation refers to what was shown this recently. */
const VALID_MS = 10 * 60_000;

const REMEMBER = "Usage: /remember <text> adds to today's note; /remember --always <text> adds to MEMORY.md, which every conversation starts with.";
const FORGET =
  "Usage: /forget <text> shows what would be removed from notes and conversations. Then /forget confirm removes everything shown, /forget confirm 1 3 only items 1 and 3, and /forget cancel removes nothing.";

export const remember: Handler = async ({ call, ports, args, name }) => {
  if (!ports.memory) return notThere(name, "this gateway has no notes");
  const [, flag, text = ""] = /^\s*((?:--|—)always\b)?([\s\S]*)$/.exec(args) ?? [];
  if (text.trim() === "") return REMEMBER;
  const { path, line } = await ports.memory.remember(call.agentId, text, { always: flag !== undefined });
  return `Noted in ${path}, line ${line}.`;
};

type Report = MethodResult<"memory.forget">;

const plural = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

function where({ kind, path, startLine, at, role }: Report["items"][number]): string {
  if (kind === "note") return `${path}, line ${startLine}`;
  return `${role === "assistant" ? "answer" : "message"}${at === undefined ? "" : ` of ${at.slice(0, 16).replace("T", " ")}`}`;
}

const copiesText = (copies: number): string =>
  copies === 0 ? "" : ` and ${plural(copies, "record")} that ${copies === 1 ? "repeats" : "repeat"} it (tool results, deliveries, the queue)`;

function preview(report: Report): string {
  const { items, copies, match } = report;
  const lines = items
    .slice(0, SHOWN)
    .map(
      (item) => `${item.n}. ${where(item)}: ${clip(item.text.replaceAll(/\s+/g, " "), LINE_CHARS)}${item.kept === undefined ? "" : ` (stays: ${item.kept})`}`,
    );
  const more = items.length > SHOWN ? [`… and ${report.truncated ? "more than " : ""}${items.length - SHOWN} more`] : [];
  return [
    PREVIEW_HEADS[match === "words" ? "words" : "phrase"],
    ...lines,
    ...more,
    ...(copies === 0 ? [] : [`Also${copiesText(copies).slice(4)}.`]),
    "Send /forget confirm to remove everything shown, /forget confirm 1 3 for some items, or /forget cancel to keep it.",
  ].join("\n");
}

async function show(port: MemoryPort, { call, key, ports }: Handling, text: string): Promise<Answer> {
  const report = await port.forget(call.agentId, { text, preview: true });
  if (report.items.length === 0) {
    // The command itself is a record that contains it.
    await port.forget(call.agentId, { text, plan: report.plan });
    return `No match in notes or conversations.\nNot covered: ${report.unreachable.join("; ")}.`;
  }
  port.shown.set(key, { text, plan: report.plan, at: ports.clock.now() });
  return buttonsFor(preview(report), [
    [
      { text: "Remove", command: "/forget confirm" },
      { text: "Keep", command: "/forget cancel" },
    ],
  ]);
}

async function confirm(port: MemoryPort, { call, key, ports }: Handling, numbers: readonly string[]): Promise<Answer> {
  const shown = port.shown.get(key);
  if (!shown || ports.clock.now() - shown.at > VALID_MS) return "Nothing to confirm. Send /forget with the text first.";
  const only = numbers.filter((word) => word !== "all").map(Number);
  if (only.some((n) => !Number.isSafeInteger(n) || n < 1)) return FORGET;
  try {
    const report = await port.forget(call.agentId, { text: shown.text, plan: shown.plan, ...(only.length === 0 ? {} : { only }) });
    port.shown.delete(key);
    const gone = report.items.filter(({ kept }) => kept === undefined);
    const notes = gone.filter(({ kind }) => kind === "note");
    const lines = notes.reduce((sum, { startLine, endLine }) => sum + endLine - startLine + 1, 0);
    const places = [...new Set(notes.map(({ path }) => path))];
    return [
      `Removed ${plural(lines, "line")} of notes${places.length === 0 ? "" : ` (${places.join(", ")})`}, ${plural(gone.length - notes.length, "message")}${copiesText(report.copies)}.`,
      `Not covered: ${report.unreachable.join("; ")}.`,
    ].join("\n");
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "CONFLICT") throw error;
    return show(port, { call, key, ports, name: "forget", args: shown.text }, shown.text);
  }
}

export const forget: Handler = async (handling) => {
  const { ports, args, name, key } = handling;
  const port = ports.memory;
  if (!port) return notThere(name, "this gateway has no notes");
  const [first = "", ...rest] = wordsOf(args);
  if (first === "") return FORGET;
  if (first.toLowerCase() === "cancel" && rest.length === 0) return port.shown.delete(key) ? "Kept." : "Nothing to confirm.";
  if (first.toLowerCase() === "confirm" && rest.every((word) => /^(?:\d+|all)$/.test(word))) return confirm(port, handling, rest);
  return show(port, handling, args.trim());
};
