const REST_MS = 600;

/** Finds an entry by the letters that are typed one after the other; a pause begins again. The same letter steps through entries that begin with it. */
export interface Typeahead {
  /** The position of the next entry that fits, beginning at `from`, or undefined. */
  find(letter: string, labels: readonly string[], from: number): number | undefined;
}

export function createTypeahead(now: () => number = () => performance.now()): Typeahead {
  let typed = "";
  let last = -Infinity;
  return {
    find(letter, labels, from) {
      const at = now();
      typed = at - last > REST_MS ? letter : typed + letter;
      last = at;
      const wanted = typed.toLowerCase();
      const first = wanted.charAt(0);
      const repeated = wanted === first.repeat(wanted.length);
      const prefix = repeated ? first : wanted;
      const begin = repeated ? from + 1 : from;
      const found = labels.findIndex((_, offset) => labels[(begin + offset) % labels.length]!.toLowerCase().startsWith(prefix));
      return found < 0 ? undefined : (begin + found) % labels.length;
    },
  };
}
