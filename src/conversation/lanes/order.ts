/** Messages of one chat or session are examined one after the other. While one of them takes long, quick ones overtake it. */
export interface Order {
  add(name: string, work: OrderedWork): void;
  /** Resolves when nothing is queued or running any more. */
  idle(): Promise<void>;
}

export interface OrderedWork {
  /** It changes nothing that the others see, and is over soon. */
  readonly isQuick: boolean;
  /** Must not reject. `tookLong` says that quick work need not wait for the end of this. */
  run(tookLong: () => void): Promise<void>;
}

interface Line {
  waiting: OrderedWork[];
  takesLong: boolean;
}

export function createOrder(): Order {
  const lines = new Map<string, Line>();
  const running = new Set<Promise<void>>();

  function begin(work: Promise<void>): void {
    running.add(work);
    void work.finally(() => running.delete(work));
  }

  const aside = (work: OrderedWork): void => begin(work.run(() => {}));

  async function drain(name: string, line: Line, first: OrderedWork): Promise<void> {
    for (let work: OrderedWork | undefined = first; work; work = line.waiting.shift()) {
      line.takesLong = false;
      let isOver = false;
      await work.run(() => {
        if (isOver) return;
        line.takesLong = true;
        const quick = line.waiting.filter(({ isQuick }) => isQuick);
        line.waiting = line.waiting.filter(({ isQuick }) => !isQuick);
        quick.forEach(aside);
      });
      isOver = true;
    }
    lines.delete(name);
  }

  return {
    add(name, work) {
      const line = lines.get(name);
      if (!line) {
        const begun: Line = { waiting: [], takesLong: false };
        lines.set(name, begun);
        begin(drain(name, begun, work));
      } else if (work.isQuick && line.takesLong) aside(work);
      else line.waiting.push(work);
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
