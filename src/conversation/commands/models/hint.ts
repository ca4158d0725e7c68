import type { ModelRef } from "../../../models/index.ts";
import type { ModelChooser } from "./choose.ts";
import { score } from "./match.ts";

/** Parts of models' names that are ordinary words: a message may begin with them. */
const ORDINARY = new Set(
  "preview instruct thinking reasoning vision search online latest coding medium experimental standard realtime image reasoner deepthink speech research".split(
    " ",
  ),
);
const SHORTEST = 6;

/** A model that `/new` is followed by, and the rest. Words that are not clearly one are the beginning of a message. */
export function modelHint(chooser: ModelChooser, args: string): { readonly ref: ModelRef; readonly rest: string } | undefined {
  const [, first = "", second = "", rest = ""] = /^(\S{1,200})(?:\s+(\S{1,200}))?([\s\S]*)$/.exec(args) ?? [];
  const afterFirst = args.slice(first.length).trim();
  const named = chooser.exact(first);
  // An id of the default provider that nobody knows is no model.
  if (named) return { ref: named, rest: afterFirst };
  const pair = second === "" || !chooser.models.some(({ provider }) => provider === first.toLowerCase()) ? undefined : chooser.exact(`${first}/${second}`);
  if (pair) return { ref: pair, rest: rest.trim() };
  if (first.length < SHORTEST || ORDINARY.has(first.toLowerCase()) || !isName(chooser, first)) return undefined;
  const chosen = chooser.choose(first);
  return "ref" in chosen ? { ref: chosen.ref, rest: afterFirst } : undefined;
}

/** Whether a part of some model's name begins so. */
function isName({ models }: ModelChooser, word: string): boolean {
  const wanted = word.toLowerCase();
  return models.some(
    ({ id }) => score(wanted, id) >= 0.8 && (id.toLowerCase().startsWith(wanted) || /[-/.]/.test(id[id.toLowerCase().indexOf(wanted) - 1] ?? "")),
  );
}
