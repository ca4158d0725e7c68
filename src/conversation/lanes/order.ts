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
/** Work that goes on one after the other under one name, and side by side under different ones. */
export interface Serial {
  /** Runs it when what was queued under the name before is over. It must not reject. */
  queue(name: string, work: () => Promise<void>): void;
  /** The same for work whose end is waited for. */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing is queued any more. */
  idle(): Promise<void>;
}

export function createSerial(): Serial {
  const lanes = new Map<string, Promise<void>>();

  function queue(name: string, work: () => Promise<void>): void {
    const before = lanes.get(name) ?? Promise.resolve();
    const lane = before.then(work).finally(() => lanes.get(name) === lane && lanes.delete(name));
    lanes.set(name, lane);
  }

  return {
    queue,
    exclusively: (name, work) =>
      new Promise((resolve, reject) => {
        queue(name, () => work().then(resolve, reject));
      }),
    async idle() {
      while (lanes.size > 0) await Promise.all(lanes.values());
    },
  };
}
