/** The tree of a transcript, from the few places where it is not a chain: a line follows the one before it unless it is the beginning of a branch. */

/** A line whose parent is not the line before it. */
export interface Fork {
  readonly seq: number;
  /** Position of its parent; null at a root. */
  readonly parent: number | null;
}

/** Positions of one transcript, as a tree. */
export interface TranscriptTree {
  /** Position of the parent; null at a root. */
  parentOf(seq: number): number | null;
  /** Positions of the children, in file order. */
  childrenOf(seq: number): readonly number[];
  /** Lines that begin a branch. */
  readonly forks: readonly Fork[];
  /** Beginnings of conversations: lines without a parent. */
  readonly roots: readonly number[];
  /** The newest line of the branches that begin with this one. */
  newestBelow(seq: number): number;
  /** Whether a line is on the way from a leaf to its root. */
  isOnPath(seq: number, leaf: number): boolean;
}

/** `lines` counts the header, which is at 0 and no part of the tree. */
export function createTree(forks: readonly Fork[], lines: number): TranscriptTree {
  /** Each begins a chain that ends before the next one. */
  const chains: readonly Fork[] = [
    { seq: 1, parent: null },
    ...forks.filter(({ seq, parent }) => seq > 1 && seq < lines && (parent === null || parent < seq)).sort((a, b) => a.seq - b.seq),
  ];
  const endOf = (at: number): number => (chains[at + 1]?.seq ?? lines) - 1;

  /** Chains by the line that they branch off from. */
  const below = Map.groupBy(chains, ({ parent }) => parent);

  function chainOf(seq: number): number {
    let [low, high] = [0, chains.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (chains[middle]!.seq <= seq) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  function parentOf(seq: number): number | null {
    const chain = chains[chainOf(seq)]!;
    return chain.seq === seq ? chain.parent : seq - 1;
  }

  /** Climbs from chain to chain: each begins above the one before, so that this ends. */
  function isOnPath(seq: number, leaf: number): boolean {
    for (let at: number | null = leaf; at !== null && at >= seq;) {
      const chain: Fork = chains[chainOf(at)]!;
      if (chain.seq <= seq) return true;
      at = chain.parent;
    }
    return false;
  }

  return {
    forks: chains.slice(1),
    parentOf,
    isOnPath,
    childrenOf(seq) {
      const next = seq < endOf(chainOf(seq)) ? [seq + 1] : [];
      return [...next, ...(below.get(seq) ?? []).map((chain) => chain.seq)];
    },
    roots: lines > 1 ? (below.get(null) ?? []).map(({ seq }) => seq) : [],
    newestBelow(seq) {
      for (let at = chains.length - 1; at >= 0; at -= 1) {
        const end = endOf(at);
        if (end >= seq && isOnPath(seq, end)) return end;
      }
      return seq;
    },
  };
}
