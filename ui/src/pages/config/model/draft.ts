import type { MethodResult } from "openclaw/client";
import { createSignal, type Signal } from "../../../base/signal.ts";
import { readJson5, type LocatedText } from "./json5.ts";
import { same, type Operation } from "./operations.ts";
import { formatPath, withoutValue, withValue } from "./path.ts";

export type Check = MethodResult<"config.check">;

/** The configuration as it is edited, beside the one that is in use. */
export interface DraftState {
  /** The file's text when editing began, secrets hidden. */
  readonly base: string;
  readonly baseHash: string;
  readonly text: string;
  /** Of the last text that was JSON5. */
  readonly located: LocatedText | undefined;
  /** The value that forms show: with edits that the text does not have yet. */
  readonly value: unknown;
  /** The text is not JSON5 now. */
  readonly broken: boolean;
  /** What the gateway says of the text; undefined until it has said something. */
  readonly check: Check | undefined;
  /** The text is newer than what was checked. */
  readonly checking: boolean;
  /** Why an edit or a check could not be made. */
  readonly failure: string | undefined;
}

export interface DraftDeps {
  readonly edit: (raw: string, operation: Operation & { readonly at: string }) => Promise<string>;
  readonly check: (raw: string) => Promise<Check>;
  readonly failureText: (error: unknown) => string;
  /** Calls later; gives how to call it off. */
  readonly later: (ms: number, work: () => void) => () => void;
}

export interface Draft {
  readonly state: Signal<DraftState>;
  readonly changed: boolean;
  /** Begins with the file, and with a text that was being edited when there is one. */
  begin(base: { readonly text: string; readonly hash: string }, text?: string): void;
  /** Another text, as typed. */
  write(text: string): void;
  /** A value set or removed by a form. */
  apply(operation: Operation): void;
  /** Resolves when every edit is in the text. */
  settled(): Promise<void>;
  /** Checks now, without waiting for a pause; gives what the gateway says of the present text. */
  checked(): Promise<Check | undefined>;
}

const PAUSE_MS = 200;

const applied = (value: unknown, operation: Operation): unknown =>
  operation.do === "set" ? withValue(value, operation.path, operation.value) : withoutValue(value, operation.path);

/** Asks what the gateway says of a text: after a pause, and only about the last one. */
function createChecker(deps: DraftDeps, textNow: () => string, tell: (part: Partial<DraftState>) => void) {
  /** Answers to older questions than this are dropped. */
  let question = 0;
  let callOff = (): void => {};

  async function ask(): Promise<Check | undefined> {
    callOff();
    const mine = (question += 1);
    try {
      const check = await deps.check(textNow());
      if (mine !== question) return undefined;
      tell({ check, checking: false, failure: undefined });
      return check;
    } catch (error) {
      if (mine === question) tell({ checking: false, failure: deps.failureText(error) });
      return undefined;
    }
  }

  function askSoon(): void {
    callOff();
    question += 1;
    tell({ checking: true });
    callOff = deps.later(PAUSE_MS, () => void ask());
  }

  return { ask, askSoon };
}

const EMPTY: DraftState = {
  base: "",
  baseHash: "",
  text: "",
  located: undefined,
  value: {},
  broken: false,
  check: undefined,
  checking: false,
  failure: undefined,
};

export function createDraft(deps: DraftDeps): Draft {
  const state = createSignal<DraftState>(EMPTY);
  const waiting: Operation[] = [];
  let working: Promise<void> | undefined;
  /** Edits of a text that was replaced meanwhile are dropped. */
  let edition = 0;
  const change = (part: Partial<DraftState>): void => state.set({ ...state.value, ...part });
  const checker = createChecker(deps, () => state.value.text, change);

  function take(text: string): void {
    const located = readJson5(text);
    const value = located ? waiting.reduce(applied, located.value) : state.value.value;
    change({ text, located: located ?? state.value.located, value, broken: !located, failure: undefined });
    checker.askSoon();
  }

  async function work(): Promise<void> {
    for (let operation = waiting.shift(); operation; operation = waiting.shift()) {
      const mine = edition;
      try {
        const text = await deps.edit(state.value.text, { ...operation, at: formatPath(operation.path) });
        if (mine === edition) take(text);
      } catch (error) {
        if (mine !== edition) continue;
        waiting.length = 0;
        change({ value: state.value.located?.value ?? {}, failure: deps.failureText(error) });
      }
    }
    working = undefined;
    change({});
  }

  return {
    state,
    get changed() {
      return state.value.text !== state.value.base || waiting.length > 0 || working !== undefined;
    },
    begin(base, text = base.text) {
      edition += 1;
      waiting.length = 0;
      state.set({ ...EMPTY, base: base.text, baseHash: base.hash });
      take(text);
    },
    write(text) {
      if (text === state.value.text) return;
      edition += 1;
      waiting.length = 0;
      take(text);
    },
    apply(operation) {
      const last = waiting.at(-1);
      if (last && same(last.path, operation.path)) waiting.pop();
      waiting.push(operation);
      change({ value: applied(state.value.value, operation), checking: true });
      working ??= work();
    },
    async settled() {
      await working;
    },
    async checked() {
      await working;
      return checker.ask();
    },
  };
}
