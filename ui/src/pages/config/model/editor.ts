import type { MethodResult } from "openclaw/client";
import { createSignal, type Signal } from "../../../base/signal.ts";
import type { Link } from "../../../link/link.ts";
import { createDraft, type Check, type Draft, type DraftState } from "./draft.ts";
import { describeKey, type Hints } from "./hints.ts";
import { readJson5 } from "./json5.ts";
import { mergedText } from "./merge-text.ts";
import { clashes, operationsBetween, type Operation } from "./operations.ts";
import { formatPath, type ValuePath } from "./path.ts";
import { withoutNewSecrets } from "./secrets.ts";
import type { SchemaNode } from "./shape.ts";

/** The file as someone else left it while it was edited here. */
export interface Conflict {
  readonly text: string;
  readonly hash: string;
  readonly clashes: readonly ValuePath[];
  /** Both texts are JSON5. */
  readonly mergeable: boolean;
}

export interface EditorState {
  readonly phase: "loading" | "ready" | "failed";
  readonly failure?: string;
  readonly path: string;
  readonly exists: boolean;
  /** The file is no JSON5: it cannot be shown without its secrets, so not at all. */
  readonly unreadable?: string;
  readonly schema: SchemaNode;
  readonly hints: Hints;
  /** Of schema and hints: another one when plugins changed them. */
  readonly schemaHash?: string | undefined;
  /** As it is in use, defaults included. */
  readonly used: unknown;
  readonly conflict?: Conflict | undefined;
}

export interface EditorDeps {
  readonly link: Pick<Link, "request">;
  /** What this browser remembers. */
  readonly kept: { get(): KeptDraft | undefined; set(draft: KeptDraft | undefined): void };
  readonly failureText: (error: unknown) => string;
  readonly later: (ms: number, work: () => void) => () => void;
}

/** A text under way, without secrets that were typed into it. */
export interface KeptDraft {
  readonly path: string;
  readonly base: string;
  readonly hash: string;
  readonly text: string;
}

/** Where the configuration is edited: the file, the draft, and the way from one to the other. */
export interface Editor extends Disposable {
  readonly state: Signal<EditorState>;
  readonly draft: Draft;
  /** Reads the file. A draft stays; when the file changed under it, that is a conflict. */
  load(): Promise<void>;
  /** Writes the draft. Returns false when the file was changed since it was loaded. */
  save(check: Check): Promise<boolean>;
  /** Goes on from the file as it is now, with the changes made here on top. */
  merge(): Promise<void>;
  /** Goes on from the file as it is now. */
  discard(): Promise<void>;
}

type Got = MethodResult<"config.get">;

const isStale = (error: unknown): boolean => error instanceof Error && error.message.includes("changed since last load");

const asEdit = (operations: readonly Operation[]) => ({
  set: operations.flatMap((one) => (one.do === "set" ? [{ path: formatPath(one.path), value: one.value }] : [])),
  unset: operations.flatMap((one) => (one.do === "unset" ? [formatPath(one.path)] : [])),
});

function conflictOf(base: string, mine: string, now: { readonly text: string; readonly hash: string }): Conflict {
  const [before, ours, theirs] = [readJson5(base), readJson5(mine), readJson5(now.text)];
  if (!before || !ours || !theirs) return { ...now, clashes: [], mergeable: false };
  return { ...now, clashes: clashes(operationsBetween(before.value, ours.value), operationsBetween(before.value, theirs.value)), mergeable: true };
}

/** What the browser may remember of a draft; nothing when nothing is changed. */
function keptOf({ base, baseHash, text, located }: DraftState, { path, hints }: EditorState): KeptDraft | undefined {
  if (text === base || !located) return undefined;
  const isSecret = (at: ValuePath): boolean => describeKey(hints, at, {}).secret;
  return { path, base, hash: baseHash, text: withoutNewSecrets(text, located, readJson5(base)?.value, isSecret) };
}

async function fileText(
  link: EditorDeps["link"],
  got: Got,
  failureText: EditorDeps["failureText"],
): Promise<{ readonly text: string } | { readonly unreadable: string }> {
  if (got.raw !== null) return { text: got.raw };
  try {
    // Of a file that is not valid the text is given for editing.
    return { text: (await link.request("config.edit", {})).raw };
  } catch (error) {
    return { unreadable: failureText(error) };
  }
}

/** What is meant, in a text that has the comments that were typed here, and as many of the others as can be. */
async function withComments(link: EditorDeps["link"], { base, mine, theirs, meant }: Record<"base" | "mine" | "theirs" | "meant", string>): Promise<string> {
  const value = readJson5(meant)?.value;
  const merged = mergedText(base, mine, theirs);
  const found = readJson5(merged);
  const [text, before] = found ? [merged, found.value] : [mine, readJson5(mine)?.value];
  const left = operationsBetween(before, value);
  return left.length === 0 ? text : (await link.request("config.edit", { raw: text, ...asEdit(left) })).raw;
}

export function createEditor({ link, kept, failureText, later }: EditorDeps): Editor {
  const state = createSignal<EditorState>({ phase: "loading", path: "", exists: true, schema: {}, hints: {}, used: {} });
  const change = (part: Partial<EditorState>): void => state.set({ ...state.value, ...part });
  let begun = false;

  const draft = createDraft({
    failureText,
    later,
    check: (raw) => link.request("config.check", { raw }),
    edit: async (raw, operation) => (await link.request("config.edit", { raw, ...asEdit([operation]) })).raw,
  });

  const keeping = draft.state.subscribe((now) => {
    if (state.value.phase === "ready" && !now.broken) kept.set(keptOf(now, state.value));
  });

  function take(got: Got, text: string): void {
    const hash = got.hash ?? "";
    const { base, baseHash } = draft.state.value;
    const found = begun ? undefined : kept.get();
    const mine = found && found.path === got.path && found.text !== found.base ? found : undefined;
    begun = true;
    if (mine) draft.begin({ text: mine.base, hash: mine.hash }, mine.text);
    // A file that is as it is here by now was written by this page, whose answer is still to come, or by another tab in the same way.
    else if (!draft.changed || base === "" || draft.state.value.text === text) {
      if (baseHash !== hash || base !== text) draft.begin({ text, hash });
      return change({ conflict: undefined });
    }
    const now = draft.state.value;
    change({ conflict: now.baseHash === hash ? undefined : conflictOf(now.base, now.text, { text, hash }) });
  }

  async function load(): Promise<void> {
    try {
      const [described, got] = await Promise.all([link.request("config.schema", {}), link.request("config.get", {})]);
      const changed = described.hash === undefined || described.hash !== state.value.schemaHash;
      const file = await fileText(link, got, failureText);
      const form = changed ? { schema: described.schema as SchemaNode, hints: described.uiHints, schemaHash: described.hash } : {};
      const facts = { path: got.path, exists: got.exists, used: got.config, ...form };
      const { failure: _failure, unreadable: _unreadable, ...rest } = state.value;
      state.set({ ...rest, ...facts, phase: "ready", ...("unreadable" in file ? file : {}) });
      if ("text" in file) take(got, file.text);
    } catch (error) {
      if (!begun) change({ phase: "failed", failure: failureText(error) });
    }
  }

  /** Forgets the draft and begins with the file. */
  async function afresh(): Promise<void> {
    kept.set(undefined);
    const { base, baseHash } = draft.state.value;
    draft.begin({ text: base, hash: baseHash });
    await load();
  }

  return {
    state,
    draft,
    load,
    async save(check) {
      await draft.settled();
      const { text: raw, baseHash } = draft.state.value;
      const params = { raw, ...(baseHash === "" ? {} : { baseHash }) };
      try {
        if (check.reload.kind === "restart") await link.request("config.apply", params);
        else await link.request("config.set", params);
      } catch (error) {
        await load();
        // The gateway may have ended between writing the file and its answer.
        if (draft.changed && !isStale(error)) throw error;
        if (draft.changed) return false;
      }
      await afresh();
      return true;
    },
    async merge() {
      const { conflict } = state.value;
      const { base, text } = draft.state.value;
      const [before, mine] = [readJson5(base), readJson5(text)];
      if (!conflict || !before || !mine) return;
      const { raw } = await link.request("config.edit", { raw: conflict.text, ...asEdit(operationsBetween(before.value, mine.value)) });
      draft.begin({ text: conflict.text, hash: conflict.hash }, await withComments(link, { base, mine: text, theirs: conflict.text, meant: raw }));
      change({ conflict: undefined });
    },
    discard: afresh,
    [Symbol.dispose]: () => keeping[Symbol.dispose](),
  };
}
