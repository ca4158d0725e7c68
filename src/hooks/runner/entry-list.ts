import type { Entry } from "./entry.ts";

/** Handlers of one hook. The sorted list is never changed, only replaced: a running dispatch continues with the one it started with. */
export class EntryList {
  private readonly entries = new Set<Entry>();
  private order: readonly Entry[] | undefined = [];

  get size(): number {
    return this.entries.size;
  }

  add(entry: Entry): void {
    this.entries.add(entry);
    this.order = undefined;
  }

  remove(entry: Entry): boolean {
    this.order = undefined;
    return this.entries.delete(entry);
  }

  /** Higher priority first; the same priority in the order of registration. */
  sorted(): readonly Entry[] {
    return (this.order ??= [...this.entries].sort((a, b) => b.priority - a.priority || 0));
  }
}
