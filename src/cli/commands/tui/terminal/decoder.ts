import { keyOfCode, keyOfControl, nameOfLetter, nameOfNumber, withModifiers } from "./key-names.ts";

/** Input from the keyboard. */
export type Input =
  | { readonly type: "key"; readonly key: string }
  /** Typed; one event for what came together. */
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "paste"; readonly text: string }
  | { readonly type: "wheel"; readonly up: boolean };

export interface Decoder {
  /** Takes bytes as they come, cut anywhere. */
  push(bytes: Uint8Array): readonly Input[];
  /** Something was begun that may go on: ask `flush` when nothing came for a moment. */
  readonly waiting: boolean;
  /** Nothing more will come of what was begun: an escape character was the Escape key. */
  flush(): readonly Input[];
}

/* oxlint-disable no-control-regex -- keys are control sequences */
const CSI = /\u001b\[([<=>?]?)([0-9;:]*)[ -/]*([@-~])/y;
const SS3 = /\u001bO([0-9;]*)([A-Za-z])/y;
/** Answers of the terminal to questions. */
const REPORT = /\u001b[\]P_^X][^\u0007\u001b]*(?:\u0007|\u001b\\)/y;
const UNFINISHED = /\u001b\u001b?(?:\[[<=>?]?[0-9;:]*[ -/]*|O[0-9;]*|[\]P_^X][^\u0007\u001b]*\u001b?)?$/y;
const TYPED = /[^\u0000-\u001f\u007f\u001b]+/y;
/* oxlint-enable no-control-regex */

const PASTE_END = "\u001b[201~";
/** More of a paste is left out; no message may be longer. */
const MAX_PASTE = 1_000_000;
const MAX_UNFINISHED = 4096;
const WHEEL = 64;

function fromCsi(prefix: string, parameters: string, final: string): Input | "paste" | undefined {
  const numbers = parameters.split(";").map((part) => Number(part.split(":")[0] || 0));
  const [first = 0, second = 0, third] = numbers;
  const [, kind] = (parameters.split(";")[1] ?? "").split(":");
  if (kind === "3") return undefined; // A key was let go.
  if (prefix === "<") return first & WHEEL && final === "M" ? { type: "wheel", up: (first & 1) === 0 } : undefined;
  if (prefix !== "") return undefined;
  if (final === "~" && first === 200) return "paste";
  if (final === "~" && first === 27 && third !== undefined) return written(keyOfCode(third, second || 1));
  if (final === "u") return written(keyOfCode(first, second || 1));
  if (final === "Z") return { type: "key", key: "shift+tab" };
  const name = final === "~" ? nameOfNumber(first) : nameOfLetter(final);
  return name === undefined ? undefined : { type: "key", key: withModifiers(name, second || 1) };
}

function written(key: ReturnType<typeof keyOfCode>): Input | undefined {
  if (!key) return undefined;
  return "key" in key ? { type: "key", key: key.key } : { type: "text", text: key.text };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const alt = (input: Input): Input => (input.type === "key" && !/(?:^|\+)alt\+/.test(input.key) ? { type: "key", key: withAlt(input.key) } : input);
const withAlt = (key: string): string => (key.startsWith("ctrl+") ? `ctrl+alt+${key.slice(5)}` : `alt+${key}`);

interface Step {
  readonly length: number;
  readonly input?: Input | "paste" | undefined;
}

/** What begins with the escape character at `at`; undefined when more has to come. */
function escaped(text: string, at: number): Step | undefined {
  const csi = matchAt(CSI, text, at);
  if (csi) {
    const [whole, prefix = "", parameters = "", final = ""] = csi;
    return { length: whole.length, input: fromCsi(prefix, parameters, final) };
  }
  const ss3 = matchAt(SS3, text, at);
  if (ss3) {
    const [whole, modifiers = "", letter = ""] = ss3;
    const name = letter === "M" ? "enter" : nameOfLetter(letter);
    return {
      length: whole.length,
      input: name === undefined ? undefined : { type: "key", key: withModifiers(name, Number(modifiers.split(";").at(-1)) || 1) },
    };
  }
  const report = matchAt(REPORT, text, at);
  if (report) return { length: report[0].length };
  if (matchAt(UNFINISHED, text, at) && text.length - at <= MAX_UNFINISHED) return undefined;
  const next = text.codePointAt(at + 1);
  if (next === undefined) return { length: 1 };
  if (next === 0x1b) {
    const inner = /^[[O]/.test(text.slice(at + 2, at + 3)) ? escaped(text, at + 1) : undefined;
    if (inner && inner.input !== "paste") return { length: inner.length + 1, input: inner.input && alt(inner.input) };
    return { length: 1, input: { type: "key", key: "escape" } };
  }
  const name = next < 0x20 || next === 0x7f ? keyOfControl(next) : String.fromCodePoint(next).toLowerCase();
  return { length: 1 + (next > 0xffff ? 2 : 1), input: { type: "key", key: withAlt(name) } };
}

/** What an unfinished sequence was after all. */
function afterAll(rest: string): readonly Input[] {
  if (rest.replaceAll("\u001b", "") === "") return Array.from(rest, () => ({ type: "key", key: "escape" }) as const);
  return rest.length === 2 ? [{ type: "key", key: `alt+${rest.slice(1).toLowerCase()}` }] : [];
}

/** Reads keys from the bytes of a terminal: UTF-8, legacy and kitty sequences, bracketed paste, the wheel. */
export function createDecoder(): Decoder {
  const utf8 = new TextDecoder();
  let rest = "";
  let paste: string | undefined;

  /** Reads on in a paste; gives where its end was, or nothing when it goes on. */
  function pasted(before: string, text: string, into: Input[]): string | undefined {
    const whole = before + text;
    const end = whole.indexOf(PASTE_END, Math.max(0, before.length - PASTE_END.length));
    if (end < 0) {
      // The end may be cut in two: its beginning has to stay.
      paste = whole.length > MAX_PASTE + 100 ? whole.slice(0, MAX_PASTE) + whole.slice(-PASTE_END.length) : whole;
      return undefined;
    }
    paste = undefined;
    into.push({ type: "paste", text: whole.slice(0, Math.min(end, MAX_PASTE)) });
    return whole.slice(end + PASTE_END.length);
  }

  function read(text: string, into: Input[]): void {
    let at = 0;
    while (at < text.length) {
      const typed = matchAt(TYPED, text, at);
      if (typed) {
        into.push({ type: "text", text: typed[0] });
        at += typed[0].length;
        continue;
      }
      const code = text.charCodeAt(at);
      if (code !== 0x1b) {
        into.push({ type: "key", key: keyOfControl(code) });
        at += 1;
        continue;
      }
      const step = escaped(text, at);
      if (!step) {
        rest = text.slice(at);
        return;
      }
      at += step.length;
      if (step.input === "paste") {
        const after = pasted("", text.slice(at), into);
        if (after !== undefined) read(after, into);
        return;
      }
      if (step.input) into.push(step.input);
    }
  }

  return {
    push(bytes) {
      const inputs: Input[] = [];
      const text = rest + utf8.decode(bytes, { stream: true });
      rest = "";
      const after = paste === undefined ? text : pasted(paste, text, inputs);
      if (after !== undefined) read(after, inputs);
      return inputs;
    },
    get waiting() {
      return rest !== "";
    },
    flush() {
      const inputs = afterAll(rest);
      rest = "";
      return inputs;
    },
  };
}
