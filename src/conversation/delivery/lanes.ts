/** Who sends next: one row at a time for each target, in their order, so many at once for an account and altogether. */
import type { OpenRow } from "./step.ts";

/** The rows of one target, oldest first. */
export interface Lane {
  readonly key: string;
  readonly account: string;
  readonly entries: LaneEntry[];
  /** `idle`: nothing to do; `ready`: stands in line; `busy`: its first row is being sent; `waiting`: for a time; `absent`: for its channel. */
  state: "idle" | "ready" | "busy" | "waiting" | "absent";
  timer: Disposable | undefined;
  /** Something changed for its account while its first row was looked at. */
  wasWoken: boolean;
}

/** A row that waits; its content may be on disk only. */
export interface LaneEntry {
  readonly id: number;
  open: OpenRow | undefined;
  /** The answer to a command: it does not wait for the rest of a long answer. */
  readonly isCommand?: boolean;
}

export interface LaneLimits {
  readonly atOnce: number;
  readonly atOncePerAccount: number;
}

/** Lanes that can go, in line for their account; accounts take turns. */
export class Lanes {
  readonly all = new Map<string, Lane>();
  private readonly lines = new Map<string, Lane[]>();
  private readonly busy = new Map<string, number>();
  private total = 0;
  private readonly limits: LaneLimits;
  private readonly isInTrouble: (account: string) => boolean;

  /** An account in trouble sends one message at a time: attempts that hang must not take the places of other accounts. */
  constructor(limits: LaneLimits, isInTrouble: (account: string) => boolean = () => false) {
    this.limits = limits;
    this.isInTrouble = isInTrouble;
  }

  /** Adds a row to its lane, which is made when it is missing. Rows come in the order of their ids, apart from those that a start found half-way. */
  add(place: { readonly channel: string; readonly account: string; readonly target: string }, entry: LaneEntry): Lane {
    const account = `${place.channel}\0${place.account}`;
    const key = `${account}\0${place.target}`;
    let lane = this.all.get(key);
    if (!lane) this.all.set(key, (lane = { key, account, entries: [], state: "idle", timer: undefined, wasWoken: false }));
    const isBefore = ({ id, isCommand = false }: LaneEntry): boolean => (isCommand === (entry.isCommand ?? false) ? id < entry.id : isCommand);
    const at = lane.entries.findLastIndex(isBefore) + 1;
    // What is being sent, or is to be tried again, stays where it is.
    lane.entries.splice(at === 0 && lane.state !== "idle" && lane.state !== "ready" ? 1 : at, 0, entry);
    return lane;
  }

  /** Puts a lane in line, unless it stands there or is at work. */
  ready(lane: Lane): void {
    if (lane.state === "ready" || lane.state === "busy") return;
    lane.timer?.[Symbol.dispose]();
    lane.timer = undefined;
    if (lane.entries.length === 0) {
      this.all.delete(lane.key);
      return;
    }
    lane.state = "ready";
    const line = this.lines.get(lane.account);
    if (line) line.push(lane);
    else this.lines.set(lane.account, [lane]);
  }

  /** The next lane that may send, if there is one; it is busy from now on. */
  next(): Lane | undefined {
    if (this.total >= this.limits.atOnce) return undefined;
    for (const [account, line] of this.lines) {
      const busy = this.busy.get(account) ?? 0;
      if (busy >= (this.isInTrouble(account) ? 1 : this.limits.atOncePerAccount)) continue;
      const lane = line.shift()!;
      this.lines.delete(account);
      if (line.length > 0) this.lines.set(account, line);
      this.busy.set(account, busy + 1);
      this.total += 1;
      lane.state = "busy";
      lane.wasWoken = false;
      return lane;
    }
    return undefined;
  }

  /** A busy lane has nothing to do for the moment. */
  rest(lane: Lane, state: "idle" | "waiting" | "absent"): void {
    const busy = (this.busy.get(lane.account) ?? 1) - 1;
    if (busy === 0) this.busy.delete(lane.account);
    else this.busy.set(lane.account, busy);
    this.total -= 1;
    lane.state = state;
  }

  /** Attempts under way. */
  get underWay(): number {
    return this.total;
  }
}
