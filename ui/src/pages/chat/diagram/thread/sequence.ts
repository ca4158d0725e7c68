import { hidden } from "./label.ts";
import { NotDrawn, type Prepared, type Statement } from "./statements.ts";

const MOST_ACTORS = 60;
const MOST_LINES = 600;

/** Arrows with two heads at the end first: a name may hold `-x`. */
const MESSAGES: readonly RegExp[] = [
  /^(.+?)\s*(<<-->>|<<->>|-->>|->>)\s*([+-]?)\s*([^:]+?)\s*(?::\s*([\s\S]*))?$/,
  /^(.+?)\s*(--\)|-\)|--x|-x|-->|->)\s*([+-]?)\s*([^:]+?)\s*(?::\s*([\s\S]*))?$/,
];
/** Frames that only colour what is in them are not drawn. */
const FRAMES = new Set(["loop", "alt", "opt", "par", "critical", "break"]);
const SILENT = /^(?:links?|properties|details|accTitle|accDescr|destroy)\b/i;

/** Reads a sequence diagram and writes it again so that the renderer takes all of it. */
class Sequence {
  readonly lines: string[] = ["sequenceDiagram"];
  readonly left: Statement[] = [];
  title = "";
  private readonly names = new Map<string, string>();
  private readonly declared: string[] = [];
  /** Frames that are open; false: one that is not drawn. */
  private readonly open: boolean[] = [];
  private number: number | undefined;
  private step = 1;

  read(statements: readonly Statement[]): void {
    for (const statement of statements) {
      if (!this.take(statement.text)) this.left.push(statement);
      if (this.names.size > MOST_ACTORS || this.lines.length > MOST_LINES) throw new NotDrawn("large");
    }
  }

  get isEmpty(): boolean {
    return this.names.size === 0;
  }

  /** Who takes part comes first, in the order of the source. */
  get text(): string {
    const [head = "", ...rest] = this.lines;
    return [head, ...this.declared, ...rest].join("\n");
  }

  private actor(name: string, label = name, kind = "participant"): string {
    const id = name.trim();
    const known = this.names.get(id);
    if (known !== undefined) return known;
    const short = `p${this.names.size}`;
    this.names.set(id, short);
    this.declared.push(`${kind} ${short} as ${hidden(label) || short}`);
    return short;
  }

  private take(text: string): boolean {
    return SILENT.test(text) || this.introduce(text) || this.frame(text) || this.note(text) || this.message(text);
  }

  private introduce(text: string): boolean {
    const who = /^(?:create\s+)?(participant|actor)\s+(?:"([^"]+)"|(.+?))(?:@\{[^}]*\})?(?:\s+as\s+([\s\S]+))?$/i.exec(text);
    if (who) {
      const name = who[2] ?? who[3]!;
      this.actor(name, who[4]?.trim().replace(/^"([\s\S]*)"$/, "$1") ?? name, who[1]!.toLowerCase());
      return true;
    }
    const numbers = /^autonumber(?:\s+(off)|(?:\s+(\d{1,6}))?(?:\s+(\d{1,6}))?)$/i.exec(text);
    if (numbers) {
      this.number = numbers[1] === undefined ? Number(numbers[2] ?? 1) : undefined;
      this.step = Number(numbers[3] ?? 1);
      return true;
    }
    const title = /^title\s*:?\s*([\s\S]+)$/i.exec(text);
    if (title) this.title = title[1]!;
    return title !== null;
  }

  private frame(text: string): boolean {
    const [, word = "", label = ""] = /^(loop|alt|opt|par|critical|break|rect|box|else|and|option|end)\b\s*([\s\S]*)$/i.exec(text) ?? [];
    const name = word.toLowerCase();
    // An actor may be called so.
    if (name === "" || /-(?:>|-|\)|x)/.test(label.split(":")[0]!)) return false;
    if (name === "end") {
      if (this.open.pop()) this.lines.push("end");
    } else if (name === "else" || name === "and" || name === "option") {
      if (this.open.at(-1)) this.lines.push(`${name === "and" ? "and" : "else"} ${hidden(label)}`);
    } else {
      this.open.push(FRAMES.has(name));
      if (FRAMES.has(name)) this.lines.push(`${name} ${hidden(label)}`);
    }
    return true;
  }

  private note(text: string): boolean {
    const [, place = "", who = "", words = ""] = /^note\s+(left of|right of|over)\s+([^:]+):\s*([\s\S]+)$/i.exec(text) ?? [];
    if (place !== "") {
      const names = who.split(",").map((name) => this.actor(name));
      this.lines.push(`Note ${place.toLowerCase()} ${names.slice(0, 2).join(",")}: ${hidden(words) || " "}`);
      return true;
    }
    const active = /^(activate|deactivate)\s+(.+)$/i.exec(text);
    if (!active) return false;
    this.mark(active[1]!.toLowerCase() === "activate" ? "+" : "-", this.actor(active[2]!));
    return true;
  }

  /** `activate` stands behind the message that begins it, which can say the same. */
  private mark(sign: "+" | "-", actor: string): void {
    const at = this.lines.length - 1;
    const last = /^(p\d+)(<?[-x)>]+)(p\d+)(: [\s\S]*)$/.exec(this.lines[at] ?? "");
    if (!last) return;
    const [, from = "", arrow = "", to = "", rest = ""] = last;
    if ((sign === "+" && to === actor) || (sign === "-" && from === actor)) this.lines[at] = `${from}${arrow}${sign}${to}${rest}`;
  }

  private message(text: string): boolean {
    const found = MESSAGES.map((pattern) => pattern.exec(text)).find((match) => match !== null);
    if (!found) return false;
    const [, from = "", arrow = "", sign = "", to = "", words = ""] = found;
    const number = this.number === undefined ? "" : `${this.number}. `;
    if (this.number !== undefined) this.number += this.step;
    const drawn = arrow.replace("<<", "");
    this.lines.push(`${this.actor(from)}${drawn}${sign}${this.actor(to)}: ${number}${hidden(words) || "\u200b"}`);
    return true;
  }
}

/** A sequence diagram as the renderer takes it. */
export function preparedSequence(statements: readonly Statement[]): Prepared {
  const sequence = new Sequence();
  sequence.read(statements.slice(1));
  if (sequence.isEmpty) throw new NotDrawn("empty");
  return { kind: "sequence", text: sequence.text, left: sequence.left, ...(sequence.title === "" ? {} : { title: sequence.title }) };
}
