import { AppError } from "../../../base/errors.ts";
import type { LeaseRow, LeasesReads, LeasesWrites } from "../../areas/leases.ts";
import type { Fence } from "../../store.ts";
import { likePrefix, shape, shapeAll, where, type ReadContext, type ReadHandlers, type WriteHandlers } from "../handlers.ts";
import { numberOf } from "../../rows.ts";

const COLUMNS = "name, owner, token, expires_at AS expiresAt";

function leaseOf({ sql }: ReadContext, name: string): LeaseRow | undefined {
  return shape<LeaseRow>(sql(`SELECT ${COLUMNS} FROM leases WHERE name = ?`).get(name));
}

/** The row with the highest token is never deleted, so no token is reused. */
function nextToken({ sql }: ReadContext): number {
  return numberOf(sql("SELECT coalesce(max(token), 0) + 1 FROM leases"));
}

/** Throws `FENCED` unless `fence` holds the lease's current token. */
export function assertFence(context: ReadContext, fence: Fence): void {
  const current = context.sql("SELECT token FROM leases WHERE name = ?").get(fence.lease)?.["token"];
  if (current === fence.token) return;
  throw new AppError(
    "FENCED",
    `lease ${fence.lease} has moved on (token ${current === undefined ? "none" : String(current)}, given ${fence.token}); stop this work, another owner holds it`,
    {
      details: { lease: fence.lease, token: fence.token },
    },
  );
}

export const leasesWrites = {
  "leases.acquire"(context, { name, owner, ttlMs }) {
    const { sql, now } = context;
    const held = leaseOf(context, name);
    if (held && held.owner !== null && held.owner !== owner && held.expiresAt > now) return { acquired: false, owner: held.owner, expiresAt: held.expiresAt };
    const token = nextToken(context);
    const text = `INSERT INTO leases (name, owner, token, expires_at) VALUES (?, ?, ?, ?)
      ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, token = excluded.token, expires_at = excluded.expires_at`;
    sql(text).run(name, owner, token, now + ttlMs);
    return { acquired: true, token, expiresAt: now + ttlMs };
  },
  "leases.renew"(context, { name, token, ttlMs }) {
    assertFence(context, { lease: name, token });
    context.sql("UPDATE leases SET expires_at = ? WHERE name = ?").run(context.now + ttlMs, name);
    return { expiresAt: context.now + ttlMs };
  },
  "leases.release"(context, { name, token }) {
    const text = "UPDATE leases SET owner = NULL, token = ?, expires_at = ? WHERE name = ? AND token = ?";
    return { released: context.sql(text).run(nextToken(context), context.now, name, token).changes === 1 };
  },
} satisfies WriteHandlers<LeasesWrites>;

export const leasesReads = {
  "leases.get": (context, { name }) => leaseOf(context, name),
  "leases.list"({ sql }, { prefix, owner }) {
    const { text, values } = where([
      ["name LIKE ? ESCAPE '\\'", prefix === undefined ? undefined : likePrefix(prefix)],
      ["owner = ?", owner],
    ]);
    return shapeAll<LeaseRow>(sql(`SELECT ${COLUMNS} FROM leases WHERE owner IS NOT NULL AND ${text} ORDER BY name`).all(...values));
  },
  "leases.expired"({ sql }, { now, prefix }) {
    const { text, values } = where([["name LIKE ? ESCAPE '\\'", prefix === undefined ? undefined : likePrefix(prefix)]]);
    return shapeAll<LeaseRow>(
      sql(`SELECT ${COLUMNS} FROM leases WHERE owner IS NOT NULL AND expires_at <= ? AND ${text} ORDER BY expires_at, name`).all(now, ...values),
    );
  },
} satisfies ReadHandlers<LeasesReads>;
