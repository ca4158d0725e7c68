import type { Entry } from "./entry.ts";

/** Handlers of one hook. The sorted list is never changed, only replaced: a running dispatch continues with the one it started with. */
export class EntryList {
  private readonly entries = new Set<Entry>();
  private order: readonly Entry[] | undefined = [];
  size = 0;

  add(entry: Entry): void {
    this.entries.add(entry);
    this.size = this.entries.size;
    this.order = undefined;
  }

  remove(entry: Entry): boolean {
    const isRemoved = this.entries.delete(entry);
    this.size = this.entries.size;
    this.order = undefined;
    return isRemoved;
  }

  /** Higher priority first; the same priority in the order of registration. */
  sorted(): readonly Entry[] {
    return (this.order ??= [...this.entries].sort((a, b) => b.priority - a.priority || 0));
  }
}
