import type { ExtensionRow, ExtensionsReads, ExtensionsWrites, InjectionRow } from "../../areas/extensions.ts";
import { AppError } from "../../../base/errors.ts";
import { firstRow } from "../../rows.ts";
import { shapeAll, toJson, where, type ReadHandlers, type WriteHandlers } from "../handlers.ts";

const COLUMNS = "session_key AS sessionKey, plugin_id AS pluginId, namespace, value, updated_at AS updatedAt";
const INJECTION_COLUMNS = "id, session_key AS sessionKey, plugin_id AS pluginId, placement, text, payload, created_at AS createdAt, expires_at AS expiresAt";
/** What one plugin has queued for a session. */
const PENDING = "session_key = ? AND plugin_id = ? AND placement = ? AND drained_at IS NULL";
/** It waits for a turn whose answer reaches someone. */
const UNTIL_HEARD = "json_extract(payload, '$.untilHeard') IS 1";
/** It may go when there are too many. What is to stay until a turn has read it has a payload that says so. */
const NOTE = `${PENDING} AND (payload IS NULL OR (${UNTIL_HEARD} AND json_extract(payload, '$.keep') IS NULL))`;

export const extensionsWrites = {
  "extensions.set"({ sql, now }, { sessionKey, pluginId, namespace, value }) {
    const json = toJson(value);
    if (json === null) {
      sql("DELETE FROM session_extensions WHERE session_key = ? AND plugin_id = ? AND namespace = ?").run(sessionKey, pluginId, namespace);
      return;
    }
    const text = `INSERT INTO session_extensions (session_key, plugin_id, namespace, value, updated_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (session_key, plugin_id, namespace) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`;
    sql(text).run(sessionKey, pluginId, namespace, json, now);
  },
  "extensions.clear"({ sql }, { sessionKey, pluginId, keepUnheard = false }) {
    const { text, values } = where([
      ["session_key = ?", sessionKey],
      ["plugin_id = ?", pluginId],
    ]);
    return {
      values: Number(sql(`DELETE FROM session_extensions WHERE ${text}`).run(...values).changes),
      injections: Number(
        sql(`DELETE FROM injections WHERE drained_at IS NULL${keepUnheard ? ` AND NOT (${UNTIL_HEARD})` : ""} AND ${text}`).run(...values).changes,
      ),
    };
  },
  "injections.add"({ sql, now }, row) {
    const key = row.idempotencyKey ?? null;
    const found =
      key === null
        ? undefined
        : sql("SELECT id FROM injections WHERE session_key = ? AND plugin_id = ? AND idempotency_key = ?").get(row.sessionKey, row.pluginId, key);
    if (found) return { id: String(found["id"]), duplicate: true };
    const queue = [row.sessionKey, row.pluginId, row.placement];
    const last = row.most === undefined ? undefined : sql(`SELECT id, text FROM injections WHERE ${PENDING} ORDER BY seq DESC LIMIT 1`).get(...queue);
    const isRepeated = last?.["text"] === row.text;
    if (last && isRepeated && key === null) return { id: String(last["id"]), duplicate: true };
    if (row.limit !== undefined && !isRepeated) {
      const waiting = Number(firstRow<{ n: number }>(sql(`SELECT count(*) AS n FROM injections WHERE ${PENDING}`), ...queue)?.n);
      if (waiting >= row.limit)
        throw new AppError(
          "OVERLOADED",
          `${waiting} lines are already waiting for the next turn of ${row.sessionKey}; nothing was accepted, send it again later`,
        );
    }
    const text = `INSERT INTO injections (id, session_key, plugin_id, idempotency_key, placement, text, payload, created_at, expires_at, drained_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
    // A repeated text is stored as drained: its key stays known.
    const drainedAt = isRepeated ? now : null;
    sql(text).run(row.id, row.sessionKey, row.pluginId, key, row.placement, row.text, toJson(row.payload), now, row.expiresAt ?? null, drainedAt);
    if (row.most !== undefined)
      sql(`UPDATE injections SET drained_at = ? WHERE ${NOTE} AND seq <= (SELECT seq FROM injections WHERE ${NOTE} ORDER BY seq DESC LIMIT 1 OFFSET ?)`).run(
        now,
        ...queue,
        ...queue,
        row.most,
      );
    return { id: row.id, duplicate: isRepeated };
  },
  "injections.drain"({ sql, now }, { sessionKey, turnId, waking = false, again = false, unheard = false }) {
    // Nearly always nothing is pending, and every turn asks.
    if (!again && sql("SELECT 1 FROM injections WHERE session_key = ? AND drained_at IS NULL LIMIT 1").get(sessionKey)) {
      sql("UPDATE injections SET drained_at = ? WHERE session_key = ? AND drained_at IS NULL AND expires_at <= ?").run(now, sessionKey, now);
      const which = `${waking ? " AND json_extract(payload, '$.wake') IS NOT NULL" : ""}${unheard ? ` AND NOT (${UNTIL_HEARD})` : ""}`;
      sql(`UPDATE injections SET drained_at = ?, turn_id = ? WHERE session_key = ? AND drained_at IS NULL${which}`).run(now, turnId, sessionKey);
    }
    return shapeAll<InjectionRow>(
      sql(`SELECT ${INJECTION_COLUMNS} FROM injections WHERE session_key = ? AND turn_id = ? ORDER BY seq`).all(sessionKey, turnId),
      ["payload"],
    );
  },
  "injections.release"({ sql }, { sessionKey, turnId }) {
    sql(`UPDATE injections SET drained_at = NULL, turn_id = NULL WHERE session_key = ? AND turn_id = ? AND ${UNTIL_HEARD}`).run(sessionKey, turnId);
  },
} satisfies WriteHandlers<ExtensionsWrites>;

export const extensionsReads = {
  "extensions.get"({ sql }, { sessionKey, pluginId, namespace }) {
    const { text, values } = where([
      ["session_key = ?", sessionKey],
      ["plugin_id = ?", pluginId],
      ["namespace = ?", namespace],
    ]);
    return shapeAll<ExtensionRow>(sql(`SELECT ${COLUMNS} FROM session_extensions WHERE ${text} ORDER BY plugin_id, namespace`).all(...values), ["value"]);
  },
  "injections.waking"({ sql }) {
    const text = `SELECT DISTINCT session_key AS key, json_extract(payload, '$.wake') AS source FROM injections WHERE drained_at IS NULL AND json_extract(payload, '$.now') = 1`;
    return sql(text)
      .all()
      .map(({ key, source }) => ({ sessionKey: String(key), source: String(source) }));
  },
  "injections.waiting"({ sql }, { sessionKey, now }) {
    const text = `SELECT ${INJECTION_COLUMNS} FROM injections WHERE session_key = ? AND drained_at IS NULL AND (expires_at IS NULL OR expires_at > ?) ORDER BY seq`;
    return shapeAll<InjectionRow>(sql(text).all(sessionKey, now), ["payload"]);
  },
} satisfies ReadHandlers<ExtensionsReads>;
