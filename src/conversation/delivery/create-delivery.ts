import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { lazy } from "../../base/lazy.ts";
import { isRecord } from "../../base/records.ts";
import { loadRichText } from "../../channels/index.ts";
import type { ReplyPayload } from "../../protocol/index.ts";
import type { OutboxRow, Write } from "../../store/index.ts";
import type { ReplyAddress } from "../address.ts";
import { createLiveTargets } from "./attempt.ts";
import { type SendReport, type Delivery, type OutgoingFacts, type PreparedReply, type DeliveryDeps, DEFAULT_LIMITS } from "./delivery.ts";
import { createPrepare, AnsweredTurns } from "./prepare.ts";
import { createResend } from "./resend.ts";
import { OutboxWorker } from "./worker.ts";

/** Waits for the ends of rows. */
interface Reports {
  /** A row is at its end, or nothing but its account's user can bring it there. */
  settled(row: OutboxRow): void;
  /** Resolves when all of them have an end, or after `waitMs` with how they stand then. */
  of(ids: readonly number[], waitMs: number, standing: (id: number) => OutboxRow | undefined): Promise<SendReport>;
  /** No one waits any longer. */
  stop(): void;
}

function reportOf(ids: readonly number[], ended: ReadonlyMap<number, OutboxRow>, standing: (id: number) => OutboxRow | undefined): SendReport {
  const rows = ids.map((id) => ended.get(id) ?? standing(id));
  const receipts = rows.flatMap((row) => (row?.state === "sent" && isRecord(row.receipt) ? [row.receipt] : []));
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
  const left = receipts.flatMap(({ filesNotSent }) => (typeof filesNotSent === "string" ? [`not sent: ${filesNotSent}`] : []));
  const why = bad?.why ?? waiting?.why ?? left[0];
  const receipt = receipts.at(-1);
  return { state, messageIds, rowIds: ids, ...(why === undefined ? {} : { why }), ...(receipt ? { receipt } : {}) };
}

function createReports(clock: Clock): Reports {
  const waiting = new Map<number, Set<(row: OutboxRow) => void>>();
  const stops = new Set<() => void>();
  return {
    settled(row) {
      const listeners = waiting.get(row.id) ?? [];
      waiting.delete(row.id);
      for (const listener of listeners) listener(row);
    },
    async of(ids, waitMs, standing) {
      const ended = new Map<number, OutboxRow>();
      const { promise, resolve } = Promise.withResolvers<void>();
      const settle = (row: OutboxRow): void => {
        ended.set(row.id, row);
        if (ended.size === ids.length) resolve();
      };
      for (const id of ids) waiting.set(id, (waiting.get(id) ?? new Set()).add(settle));
      stops.add(resolve);
      using _timer = clock.after(waitMs, resolve);
      await promise;
      stops.delete(resolve);
      for (const id of ids) waiting.get(id)?.delete(settle);
      return reportOf(ids, ended, standing);
    },
    stop() {
      for (const stop of stops) stop();
    },
  };
}

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

/** The rows that `outbox.add` made. */
function idsIn(added: unknown): readonly number[] {
  const ids = isRecord(added) ? added["ids"] : undefined;
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "number") : [];
}

/** Sends on request; the same request under the same key is one, also over a crash. */
function createSends({ store }: DeliveryDeps, { prepare, reports, worker }: SendParts): (request: Request) => Promise<SendReport> {
  const running = new Map<string, { readonly hash: string; readonly report: Promise<SendReport> }>();

  async function commitAndWait(prepared: PreparedReply, waitMs: number, more: readonly Write[] = []): Promise<SendReport> {
    if (prepared.writes.length + more.length === 0) return { state: "suppressed", messageIds: [], rowIds: [], why: prepared.suppressed.join("; ") || "empty" };
    const results: readonly unknown[] = await store.commit([...prepared.writes, ...more]);
    const ids = prepared.writes.length === 0 ? [] : idsIn(results[0]);
    // Cancelled ones come first, and are at their end.
    const sent = prepared.texts.length === 0 ? [] : ids.slice(-prepared.texts.length);
    if (sent.length === 0) return { state: "suppressed", messageIds: [], rowIds: ids, why: prepared.suppressed.join("; ") };
    const report = reports.of(sent, waitMs, (id) => worker.standing(id));
    worker.kick();
    return report;
  }

  /** The rows that an earlier request under the same key made. */
  async function replay({ turnId, suppressed }: KeyedSend, key: string, waitMs: number): Promise<SendReport> {
    const rows = (await store.read("outbox.ofTurn", { turnId })).filter((row) => isRecord(row.payload) && row.payload["sendKey"] === key);
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
      throw new AppError("CONFLICT", `the key ${JSON.stringify(key)} was already used for another message; use a new key`, { details: { key } });
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

const WAIT_MS = 30_000;

/** The only way out for a message. */
export function createDelivery(deps: DeliveryDeps): Delivery {
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const reports = createReports(deps.clock);
  const listeners = new Set([reports.settled]);
  const live = createLiveTargets();
  const worker = new OutboxWorker(deps, limits, listeners, { live, onWaiting: reports.settled });
  const prepare = createPrepare({ ...deps, richText: lazy(deps.richText ?? loadRichText) }, limits, new AnsweredTurns());
  const send = createSends(deps, { prepare, reports, worker });
  const resend = createResend(deps, limits, {
    report({ id }) {
      const report = reports.of([id], WAIT_MS, (one) => worker.standing(one));
      worker.kick();
      return report;
    },
  });
  let closed = false;
  function assertOpen(): void {
    if (closed) throw new AppError("UNAVAILABLE", "no more messages are sent: the gateway is stopping");
  }
  return {
    prepare,
    kick: worker.kick,
    isBusy: ({ channel, accountId, to }) => worker.isBusy({ channel, account: accountId, target: to }),
    async send(address, payloads, facts, waitMs = WAIT_MS) {
      assertOpen();
      return send({ address, payloads, facts, waitMs });
    },
    async resend(rowId) {
      assertOpen();
      return resend(rowId);
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
