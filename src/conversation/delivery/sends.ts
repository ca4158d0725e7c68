import { createHash } from "node:crypto";
import { AppError } from "../../base/errors.ts";
import type { ReplyPayload } from "../../protocol/index.ts";
import type { Write } from "../../store/index.ts";
import type { ReplyAddress } from "../address.ts";
import type { Delivery, OutgoingFacts, PreparedReply, SendReport } from "./delivery.ts";
import type { DeliveryDeps } from "./deps.ts";
import type { Reports } from "./reports.ts";
import type { RowPayload } from "./row-payload.ts";
import type { OutboxWorker } from "./worker.ts";

const SCOPE = "delivery.send";

interface KeyedSend {
  readonly turnId: string;
  readonly suppressed: readonly string[];
}

/** One request to send something. */
interface Request {
  readonly address: ReplyAddress;
  readonly payloads: readonly ReplyPayload[];
  readonly facts: OutgoingFacts;
  readonly waitMs: number;
}

interface SendParts {
  readonly prepare: Delivery["prepare"];
  readonly reports: Reports;
  readonly worker: Pick<OutboxWorker, "standing" | "kick">;
}

const hashOf = ({ address, payloads, facts }: Request): string =>
  createHash("sha256")
    .update(JSON.stringify([address.channel, address.accountId, address.to, address.threadId ?? null, address.replyToId ?? null, payloads, facts.poll ?? null]))
    .digest("hex");

/** Sends on request; the same request under the same key is one, also over a crash. */
export function createSends({ store }: DeliveryDeps, { prepare, reports, worker }: SendParts): (request: Request) => Promise<SendReport> {
  const running = new Map<string, { readonly hash: string; readonly report: Promise<SendReport> }>();

  async function commitAndWait(prepared: PreparedReply, waitMs: number, more: readonly Write[] = []): Promise<SendReport> {
    if (prepared.writes.length + more.length === 0) return { state: "suppressed", messageIds: [], rowIds: [], why: prepared.suppressed.join("; ") || "empty" };
    const results = await store.commit([...prepared.writes, ...more]);
    const ids = prepared.writes.length === 0 ? [] : (results[0] as { readonly ids: readonly number[] }).ids;
    // Cancelled ones come first, and are at their end.
    const sent = prepared.texts.length === 0 ? [] : ids.slice(-prepared.texts.length);
    if (sent.length === 0) return { state: "suppressed", messageIds: [], rowIds: ids, why: prepared.suppressed.join("; ") };
    const report = reports.of(sent, waitMs, (id) => worker.standing(id));
    worker.kick();
    return report;
  }

  /** The rows that an earlier request under the same key made. */
  async function replay({ turnId, suppressed }: KeyedSend, key: string, waitMs: number): Promise<SendReport> {
    const rows = (await store.read("outbox.ofTurn", { turnId })).filter((row) => (row.payload as Partial<RowPayload> | null)?.sendKey === key);
    const sent = rows.filter(({ state }) => state !== "suppressed");
    if (sent.length === 0) return { state: "suppressed", messageIds: [], rowIds: rows.map(({ id }) => id), why: suppressed.join("; ") };
    const report = reports.of(
      sent.map(({ id }) => id),
      waitMs,
      (id) => worker.standing(id) ?? sent.find((row) => row.id === id),
    );
    for (const row of sent) if (row.settledAt !== null) reports.settled(row);
    worker.kick();
    return report;
  }

  async function sendKeyed(request: Request, key: string, hash: string): Promise<SendReport> {
    const { address, payloads, facts, waitMs } = request;
    const begun = await store.write("idempotency.begin", { scope: SCOPE, key, payloadHash: hash });
    if (begun.status === "mismatch") {
      throw new AppError("CONFLICT", `the key ${JSON.stringify(key)} was used for another message; use a new one`, { details: { key } });
    }
    if (begun.status === "replay") return replay(begun.result as KeyedSend, key, waitMs);
    // `running` is left by a process that died before it had committed anything to send: rows and answer are one commit.
    const prepared = await prepare(address, payloads, facts);
    const result: KeyedSend = { turnId: facts.runId ?? `send:${key}`, suppressed: prepared.suppressed };
    return commitAndWait(prepared, waitMs, [["idempotency.complete", { scope: SCOPE, key, result }]]);
  }

  return async (request) => {
    const { address, payloads, facts, waitMs } = request;
    const key = facts.idempotencyKey;
    if (key === undefined) return commitAndWait(await prepare(address, payloads, facts), waitMs);
    const hash = hashOf(request);
    const earlier = running.get(key);
    if (earlier?.hash === hash) return earlier.report;
    const report = sendKeyed(request, key, hash).finally(() => running.delete(key));
    if (!earlier) running.set(key, { hash, report });
    return report;
  };
}
