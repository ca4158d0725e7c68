import { createHash } from "node:crypto";
import { AppError } from "../../base/errors.ts";
import { loadRichText } from "../../channels/index.ts";
import type { ReplyPayload } from "../../protocol/index.ts";
import type { OutboxRow, Write } from "../../store/index.ts";
import type { ReplyAddress } from "../address.ts";
import type { Delivery, OutgoingFacts, PreparedReply, SendReport } from "./delivery.ts";
import { DEFAULT_LIMITS, type DeliveryDeps } from "./deps.ts";
import { createLiveTargets } from "./live.ts";
import { createPrepare } from "./prepare.ts";
import { AnsweredTurns } from "./reply-to.ts";
import { createReports, type Reports } from "./reports.ts";
import type { RowPayload } from "./row-payload.ts";
import { OutboxWorker } from "./worker.ts";

const SCOPE = "delivery.send";
const WAIT_MS = 30_000;

interface KeyedSend {
  readonly turnId: string;
  readonly suppressed: readonly string[];
}

const hashOf = (address: ReplyAddress, payloads: readonly ReplyPayload[], facts: OutgoingFacts): string =>
  createHash("sha256")
    .update(JSON.stringify([address.channel, address.accountId, address.to, address.threadId ?? null, address.replyToId ?? null, payloads, facts.poll ?? null]))
    .digest("hex");

/** Loads when it is first asked; again where that failed. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () =>
    (loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    }));
}

/** The only way out for a message. */
export function createDelivery(deps: DeliveryDeps): Delivery {
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const { store } = deps;
  const listeners = new Set<(row: OutboxRow) => void>();
  const reports: Reports = createReports(deps.clock);
  const live = createLiveTargets();
  const worker = new OutboxWorker(
    deps,
    limits,
    (row) => {
      reports.settled(row);
      for (const listener of listeners) listener(row);
    },
    live,
  );
  const prepare = createPrepare({ ...deps, richText: once(deps.richText ?? loadRichText) }, limits, new AnsweredTurns());
  const running = new Map<string, { readonly hash: string; readonly report: Promise<SendReport> }>();
  let closed = false;

  function assertOpen(): void {
    if (closed) throw new AppError("UNAVAILABLE", "nothing is sent any more: the process stops");
  }

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

  async function sendKeyed(address: ReplyAddress, payloads: readonly ReplyPayload[], facts: OutgoingFacts, key: string, hash: string, waitMs: number) {
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

  return {
    async prepare(address, payloads, facts) {
      return prepare(address, payloads, facts);
    },
    kick: () => worker.kick(),
    async send(address, payloads, facts, waitMs = WAIT_MS) {
      assertOpen();
      const key = facts.idempotencyKey;
      if (key === undefined) return commitAndWait(await prepare(address, payloads, facts), waitMs);
      const hash = hashOf(address, payloads, facts);
      const earlier = running.get(key);
      if (earlier?.hash === hash) return earlier.report;
      const report = sendKeyed(address, payloads, facts, key, hash, waitMs).finally(() => running.delete(key));
      if (!earlier) running.set(key, { hash, report });
      return report;
    },
    async resume() {
      worker.rewind(await store.write("outbox.recover", { why: "the process ended while this was being sent" }));
      worker.kick();
    },
    attach: live.attach,
    onSettled(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    open: () => worker.open,
    async [Symbol.asyncDispose]() {
      closed = true;
      await worker.stop();
      reports.stop();
    },
  };
}
