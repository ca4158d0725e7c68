import { AppError } from "../../../base/errors.ts";
import type { IdempotencyReads, IdempotencyWrites } from "../../areas/idempotency.ts";
import { SHORTEST_RETENTION_MS } from "../../retention.ts";
import { fromJson, shape, shapeAll, toJson, type ReadHandlers, type WriteHandlers } from "../handlers.ts";

export const idempotencyWrites = {
  "idempotency.begin"({ sql, now }, { scope, key, payloadHash, ttlMs = 0, about }) {
    const row = sql("SELECT payload_hash AS hash, state, result, created_at AS at, expires_at AS expires FROM idempotency WHERE scope = ? AND key = ?").get(
      scope,
      key,
    );
    if (row && Number(row["expires"]) > now) {
      if (row["hash"] !== payloadHash) return { status: "mismatch" };
      return row["state"] === "done" ? { status: "replay", result: fromJson(row["result"]) } : { status: "running", since: Number(row["at"]) };
    }
    const text = `INSERT INTO idempotency (scope, key, payload_hash, state, result, created_at, expires_at) VALUES (?, ?, ?, 'running', ?, ?, ?)
      ON CONFLICT (scope, key) DO UPDATE SET payload_hash = excluded.payload_hash, state = 'running', result = excluded.result, created_at = excluded.created_at,
      completed_at = NULL, expires_at = excluded.expires_at`;
    // The column of the result is free until there is one.
    sql(text).run(scope, key, payloadHash, toJson(about), now, now + Math.max(ttlMs, SHORTEST_RETENTION_MS));
    return { status: "new" };
  },
  "idempotency.complete"({ sql, now }, { scope, key, result }) {
    const done = sql("UPDATE idempotency SET state = 'done', result = ?, completed_at = ? WHERE scope = ? AND key = ? AND state = 'running'").run(
      toJson(result),
      now,
      scope,
      key,
    );
    if (done.changes === 0)
      throw new AppError("CONFLICT", `nothing is running under idempotency key ${key} (${scope}); begin it first`, { details: { scope, key } });
  },
  "idempotency.abandon"({ sql }, { scope, key }) {
    sql("DELETE FROM idempotency WHERE scope = ? AND key = ? AND state = 'running'").run(scope, key);
  },
} satisfies WriteHandlers<IdempotencyWrites>;

export const idempotencyReads = {
  "idempotency.running": ({ sql }, { scope }) =>
    shapeAll<IdempotencyReads["idempotency.running"]["result"][number]>(
      sql("SELECT key, result AS about FROM idempotency WHERE scope = ? AND state = 'running' ORDER BY created_at, key").all(scope),
      ["about"],
    ),
  "idempotency.get": ({ sql }, { scope, key }) =>
    shape<NonNullable<IdempotencyReads["idempotency.get"]["result"]>>(
      sql(
        "SELECT payload_hash AS payloadHash, state, result, created_at AS createdAt, expires_at AS expiresAt FROM idempotency WHERE scope = ? AND key = ?",
      ).get(scope, key),
      ["result"],
    ),
} satisfies ReadHandlers<IdempotencyReads>;
