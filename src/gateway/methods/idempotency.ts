import { createHash } from "node:crypto";
import { AppError } from "../../base/errors.ts";
import { canonicalJson } from "../../base/canonical-json.ts";
import { isRecord } from "../../base/records.ts";
import type { Store } from "../../store/index.ts";
import { invalidRequest, type Answer } from "./protocol-error.ts";

/** Remembers answers under the caller's key, on disk: a repeated request is answered, not done again. */
export interface Idempotency {
  /** Runs `work` unless the same key was answered before. Keys count per method, over all callers. */
  once(method: string, key: string, params: unknown, work: () => Promise<Answer>): Promise<Answer>;
}

interface Running {
  readonly hash: string;
  readonly answer: Promise<Answer>;
}

function hashOf(params: unknown): string {
  const { idempotencyKey: _, ...rest } = isRecord(params) ? params : {};
  return createHash("sha256").update(canonicalJson(rest)).digest("hex");
}

const otherPayload = (method: string, key: string): Answer =>
  invalidRequest(`idempotencyKey ${JSON.stringify(key)} was already used for another ${method} request; use a new key for a new request`, { method });

/** Nothing was done, and the same request may come again: its key stays free. */
const isRefusal = (answer: Answer): boolean => !answer.ok && answer.error.retryable === true;

export function createIdempotency(store: Store): Idempotency {
  /** Requests of this process that have not been answered yet. */
  const running = new Map<string, Running>();

  async function begin(method: string, key: string, hash: string, work: () => Promise<Answer>): Promise<Answer> {
    const begun = await store.write("idempotency.begin", { scope: method, key, payloadHash: hash });
    if (begun.status === "replay") return begun.result as Answer;
    if (begun.status === "mismatch") return otherPayload(method, key);
    // Begun by a process that ended before it could say how it went.
    if (begun.status === "running") {
      const message = `the gateway stopped while this ${method} request was processed, so its outcome is unknown; check before you send it again with a new key`;
      throw new AppError("UNAVAILABLE", message, { details: { outcome: "unknown", since: begun.since, retryable: false } });
    }
    const answer = await work();
    if (isRefusal(answer)) await store.write("idempotency.abandon", { scope: method, key });
    else await store.write("idempotency.complete", { scope: method, key, result: answer });
    return answer;
  }

  return {
    once(method, key, params, work) {
      const hash = hashOf(params);
      const id = `${method}\n${key}`;
      const earlier = running.get(id);
      if (earlier) return earlier.hash === hash ? earlier.answer : Promise.resolve(otherPayload(method, key));
      const answer = begin(method, key, hash, work).finally(() => running.delete(id));
      running.set(id, { hash, answer });
      return answer;
    },
  };
}
