import { AppError } from "../../base/errors.ts";
import { lazy } from "../../base/lazy.ts";
import { loadRichText } from "../../channels/index.ts";
import type { OutboxRow } from "../../store/index.ts";
import type { Delivery } from "./delivery.ts";
import { DEFAULT_LIMITS, type DeliveryDeps } from "./deps.ts";
import { createLiveTargets } from "./live.ts";
import { createPrepare } from "./prepare.ts";
import { AnsweredTurns } from "./reply-to.ts";
import { createReports, type Reports } from "./reports.ts";
import { createSends } from "./sends.ts";
import { OutboxWorker } from "./worker.ts";

const WAIT_MS = 30_000;

/** The only way out for a message. */
export function createDelivery(deps: DeliveryDeps): Delivery {
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const listeners = new Set<(row: OutboxRow) => void>();
  const reports: Reports = createReports(deps.clock);
  const live = createLiveTargets();
  const told = (row: OutboxRow): void => {
    reports.settled(row);
    for (const listener of listeners) listener(row);
  };
  const worker = new OutboxWorker(deps, limits, told, live);
  const prepare = createPrepare({ ...deps, richText: lazy(deps.richText ?? loadRichText) }, limits, new AnsweredTurns());
  const send = createSends(deps, { prepare, reports, worker });
  let closed = false;
  return {
    async prepare(address, payloads, facts) {
      return prepare(address, payloads, facts);
    },
    kick: () => worker.kick(),
    isBusy: ({ channel, accountId, to }) => worker.isBusy({ channel, account: accountId, target: to }),
    async send(address, payloads, facts, waitMs = WAIT_MS) {
      if (closed) throw new AppError("UNAVAILABLE", "nothing is sent any more: the process stops");
      return send({ address, payloads, facts, waitMs });
    },
    async resume() {
      worker.rewind(await deps.store.write("outbox.recover", { why: "the process ended while this was being sent" }));
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
