import { expect, test } from "vitest";
import { createDraft, type Check, type Draft } from "./draft.ts";

const GOOD: Check = { valid: true, issues: [], warnings: [], changes: [], reload: { kind: "none", paths: [] } };
const bad = (message: string): Check => ({ ...GOOD, valid: false, issues: [{ path: "a", message }] });

interface Asked<T> {
  readonly raw: string;
  readonly at?: string;
  readonly answer: (result: T) => void;
  readonly refuse: (error: Error) => void;
}

/** A gateway that answers when the test says so, and a clock that goes on when the test says so. */
function gateway(): { readonly draft: Draft; readonly checks: Asked<Check>[]; readonly edits: Asked<string>[]; readonly pause: () => void } {
  const checks: Asked<Check>[] = [];
  const edits: Asked<string>[] = [];
  let work: (() => void) | undefined;
  const draft = createDraft({
    edit: (raw, { at }) => new Promise((answer, refuse) => edits.push({ raw, at, answer, refuse })),
    check: (raw) => new Promise((answer, refuse) => checks.push({ raw, answer, refuse })),
    failureText: (error) => (error as Error).message,
    later: (_ms, soon) => {
      work = soon;
      return () => (work = undefined);
    },
  });
  const pause = (): void => {
    const due = work;
    work = undefined;
    due?.();
  };
  return { draft, checks, edits, pause };
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

test("a text is checked once after a pause, not at every letter", () => {
  const { draft, checks, pause } = gateway();
  draft.begin({ text: "{}", hash: "1" });
  draft.write("{ a: 1 }");
  draft.write("{ a: 12 }");
  expect([checks.length, draft.state.value.checking]).toEqual([0, true]);
  pause();
  pause();
  expect(checks.map(({ raw }) => raw)).toEqual(["{ a: 12 }"]);
});

test("an answer to an older text than the last one asked about is dropped", async () => {
  const { draft, checks, pause } = gateway();
  draft.begin({ text: "{}", hash: "1" });
  draft.write("{ a: 1 }");
  pause();
  draft.write("{ a: 2 }");
  pause();
  checks[1]!.answer(GOOD);
  await turn();
  checks[0]!.answer(bad("late"));
  await turn();
  expect(draft.state.value).toMatchObject({ check: { valid: true }, checking: false });
});

test("a form sees its edit at once, and edits reach the gateway one after the other", async () => {
  const { draft, edits } = gateway();
  draft.begin({ text: "{ a: 1 }", hash: "1" });
  draft.apply({ do: "set", path: ["a"], value: 2 });
  draft.apply({ do: "set", path: ["list", 0], value: "x" });
  expect(draft.state.value.value).toEqual({ a: 2, list: ["x"] });
  expect(edits.map(({ at }) => at)).toEqual(["a"]);
  edits[0]!.answer("{ a: 2 }");
  await turn();
  expect(draft.state.value.value).toEqual({ a: 2, list: ["x"] });
  expect(edits[1]).toMatchObject({ raw: "{ a: 2 }", at: "list[0]" });
  edits[1]!.answer('{ a: 2, list: ["x"] }');
  await draft.settled();
  expect(draft.state.value.text).toBe('{ a: 2, list: ["x"] }');
});

test("letters typed into one field while an edit is in progress become one edit", async () => {
  const { draft, edits } = gateway();
  draft.begin({ text: "{}", hash: "1" });
  for (const value of ["h", "he", "hel", "help"]) draft.apply({ do: "set", path: ["name"], value });
  edits[0]!.answer('{ name: "h" }');
  await turn();
  expect(edits).toHaveLength(2);
  edits[1]!.answer('{ name: "help" }');
  await draft.settled();
  expect(draft.state.value.value).toEqual({ name: "help" });
});

test("an edit that is refused is taken back and said", async () => {
  const { draft, edits } = gateway();
  draft.begin({ text: "{ a: 1 }", hash: "1" });
  draft.apply({ do: "unset", path: ["a"] });
  edits[0]!.refuse(new Error("no"));
  await draft.settled();
  expect(draft.state.value).toMatchObject({ value: { a: 1 }, text: "{ a: 1 }", failure: "no" });
  expect(draft.changed).toBe(false);
});

test("a text that is no JSON5 leaves the forms what they showed", () => {
  const { draft } = gateway();
  draft.begin({ text: "{ a: 1 }", hash: "1" });
  draft.write("{ a: ");
  expect(draft.state.value).toMatchObject({ value: { a: 1 }, broken: true });
  expect(draft.changed).toBe(true);
  draft.write("{ a: 3 }");
  expect(draft.state.value).toMatchObject({ value: { a: 3 }, broken: false });
});
