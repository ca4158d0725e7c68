/** Sends the content of a failed delivery again, because the user asked for it. */
import { AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import type { OutboxInput, OutboxRow } from "../../store/index.ts";
import { isRowPayload, type RowPayload } from "./attempt.ts";
import type { DeliveryDeps, DeliveryLimits, ResendReport, SendReport } from "./delivery.ts";
import { mayHaveArrived, turnOfResends, withResends } from "./row-facts.ts";

/** Throws for a row that is not to be sent again. */
function contentOf({ id, state, why, payload, receipt }: OutboxRow): RowPayload {
  const messageId = isRecord(receipt) && typeof receipt["messageId"] === "string" ? ` as message ${receipt["messageId"]}` : "";
  if (state === "sent") throw new AppError("CONFLICT", `out:${id} is not sent again: it was sent${messageId}`);
  if (state === "suppressed") throw new AppError("CONFLICT", `out:${id} is not sent again: it was blocked on purpose (${why ?? "no reason given"})`);
  if (!isRowPayload(payload)) throw new AppError("CONFLICT", `out:${id} cannot be sent again: its content is not stored any more`);
  return payload;
}

interface ResendParts {
  /** Resolves when the row has an end, or after a while with how it stands. */
  report(row: Pick<OutboxRow, "id">): Promise<SendReport>;
}

/** See `Delivery.resend`. */
export function createResend({ store, clock, ids }: DeliveryDeps, { expireMs }: Pick<DeliveryLimits, "expireMs">, { report }: ResendParts) {
  const underWay = new Map<number, Promise<ResendReport>>();

  async function add(row: OutboxRow): Promise<number> {
    const { live: _live, hookLog: _log, ...payload } = contentOf(row);
    const again: OutboxInput = {
      nonce: `oc-${ids.hex(10)}`,
      channel: row.channel,
      account: row.account,
      target: row.target,
      payload: { ...payload, resends: row.id } satisfies RowPayload,
      expiresAt: clock.now() + expireMs,
      turnId: turnOfResends(row),
      sessionKey: row.sessionKey ?? undefined,
      ...(mayHaveArrived(row) ? { mayHaveArrived: `sent again on request; out:${row.id} may have arrived` } : {}),
    };
    const added = await store.write("outbox.add", { rows: [again] });
    return added.ids[0]!;
  }

  async function resend(id: number): Promise<ResendReport> {
    const row = await store.read("outbox.get", { id });
    if (!row) throw new AppError("NOT_FOUND", `there is no delivery out:${id}; openclaw why recent --last 10 shows the last messages`);
    const last = withResends(row, await store.read("outbox.ofTurn", { turnId: turnOfResends(row) })).at(-1)!;
    const isOpen = last.settledAt === null;
    if (!isOpen) contentOf(last);
    const { channel, account: accountId, target: to } = row;
    return { ...(await report({ id: isOpen ? last.id : await add(last) })), channel, accountId, to };
  }

  return (id: number): Promise<ResendReport> => {
    const earlier = underWay.get(id);
    if (earlier) return earlier;
    const report = resend(id).finally(() => underWay.delete(id));
    underWay.set(id, report);
    return report;
  };
}
