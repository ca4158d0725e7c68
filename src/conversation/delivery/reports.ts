import type { Clock } from "../../base/clock.ts";
import type { OutboxRow } from "../../store/index.ts";
import type { SendReport } from "./delivery.ts";

/** Waits for the ends of rows. */
export interface Reports {
  settled(row: OutboxRow): void;
  /** Resolves when all of them have an end, or after `waitMs` with how they stand then. */
  of(ids: readonly number[], waitMs: number, standing: (id: number) => OutboxRow | undefined): Promise<SendReport>;
  /** Nobody waits any longer. */
  stop(): void;
}

function reportOf(ids: readonly number[], ended: ReadonlyMap<number, OutboxRow>, standing: (id: number) => OutboxRow | undefined): SendReport {
  const rows = ids.map((id) => ended.get(id) ?? standing(id));
  const receipts = rows.flatMap((row) => (row?.state === "sent" ? [row.receipt as Readonly<Record<string, unknown>>] : []));
  const messageIds = receipts.flatMap(({ messageId }) => (typeof messageId === "string" ? [messageId] : []));
  const bad = rows.find((row) => row?.state === "failed") ?? rows.find((row) => row?.state === "unknown");
  const state =
    bad?.state === "failed"
      ? "failed"
      : rows.every((row) => row?.state === "sent")
        ? "sent"
        : bad || rows.some((row) => row?.state === "attempting")
          ? "unknown"
          : "pending";
  const waiting = state === "pending" ? rows.find((row) => row?.why) : undefined;
  const why = bad?.why ?? waiting?.why ?? undefined;
  const receipt = receipts.at(-1);
  return { state, messageIds, rowIds: ids, ...(why === undefined ? {} : { why }), ...(receipt ? { receipt } : {}) };
}

export function createReports(clock: Clock): Reports {
  const waiting = new Map<number, Set<(row: OutboxRow) => void>>();
  const stops = new Set<() => void>();
  return {
    settled(row) {
      const told = waiting.get(row.id);
      waiting.delete(row.id);
      for (const tell of told ?? []) tell(row);
    },
    async of(ids, waitMs, standing) {
      const ended = new Map<number, OutboxRow>();
      const { promise, resolve } = Promise.withResolvers<void>();
      const tell = (row: OutboxRow): void => {
        ended.set(row.id, row);
        if (ended.size === ids.length) resolve();
      };
      for (const id of ids) waiting.set(id, (waiting.get(id) ?? new Set()).add(tell));
      stops.add(resolve);
      using _timer = clock.after(waitMs, resolve);
      await promise;
      stops.delete(resolve);
      for (const id of ids) waiting.get(id)?.delete(tell);
      return reportOf(ids, ended, standing);
    },
    stop() {
      for (const stop of stops) stop();
    },
  };
}
