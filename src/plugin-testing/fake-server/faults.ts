/** What goes wrong with requests to a fake platform. */

export interface Fault {
  /** Only requests with this in `METHOD /path`. Default: all. */
  readonly on?: string | RegExp | undefined;
  /** Answered with this status instead. */
  readonly status?: number | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** With `status`, `garbage`, `reset` or `silent`: the request has its effect all the same. */
  readonly applied?: boolean | undefined;
  /** The connection is reset. */
  readonly reset?: boolean | undefined;
  /** The connection stays open and nothing comes. */
  readonly silent?: boolean | undefined;
  /** The answer is no JSON. */
  readonly garbage?: boolean | undefined;
  readonly delayMs?: number | undefined;
  /** How often. Default once. */
  readonly times?: number | undefined;
}

export interface Faults {
  add(fault: Fault): void;
  /** The fault for this request, which is used up with it. */
  take(line: string): Fault | undefined;
  clear(): void;
}

export function createFaults(): Faults {
  let waiting: { readonly fault: Fault; left: number }[] = [];
  const fits = ({ on }: Fault, line: string): boolean => on === undefined || (typeof on === "string" ? line.includes(on) : on.test(line));
  return {
    add: (fault) => void waiting.push({ fault, left: fault.times ?? 1 }),
    take(line) {
      const found = waiting.find(({ fault }) => fits(fault, line));
      if (!found) return undefined;
      found.left -= 1;
      if (found.left <= 0) waiting = waiting.filter((entry) => entry !== found);
      return found.fault;
    },
    clear() {
      waiting = [];
    },
  };
}
