import type { AllowRow, DeviceRow, DevicesReads, DevicesWrites, DeviceTokenRow, PairingRow } from "../../areas/devices.ts";
import { likePrefix, shape, shapeAll, where, type ReadHandlers, type WriteHandlers } from "../handlers.ts";
import { need } from "../../rows.ts";

const DEVICE_COLUMNS = "id, public_key AS publicKey, created_at AS createdAt, approved_at AS approvedAt, data";
const TOKEN_COLUMNS =
  "device_id AS deviceId, role, token, scopes, created_at AS createdAt, rotated_at AS rotatedAt, revoked_at AS revokedAt, last_used_at AS lastUsedAt";
const PAIRING_COLUMNS = "id, kind, subject, code, created_at AS createdAt, expires_at AS expiresAt, data";
const TAKE = `DELETE FROM pairing_requests WHERE id = ? AND expires_at > ? RETURNING ${PAIRING_COLUMNS}`;
const ALLOW = "INSERT INTO allow_entries (channel, account, sender, source, added_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";

export const devicesWrites = {
  "devices.put"({ sql, now }, { id, publicKey, data, approvedAt = now }) {
    const text = `INSERT INTO devices (id, public_key, created_at, approved_at, data) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET public_key = excluded.public_key, approved_at = excluded.approved_at, data = excluded.data`;
    sql(text).run(id, publicKey, now, approvedAt, JSON.stringify(data ?? null));
  },
  "devices.delete"({ sql }, { id }) {
    sql("DELETE FROM device_tokens WHERE device_id = ?").run(id);
    return { deleted: sql("DELETE FROM devices WHERE id = ?").run(id).changes === 1 };
  },
  "devices.token.put"({ sql, now }, { deviceId, role, token, scopes }) {
    const text = `INSERT INTO device_tokens (device_id, role, token, scopes, created_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (device_id, role) DO UPDATE SET token = excluded.token, scopes = excluded.scopes, rotated_at = excluded.created_at, revoked_at = NULL
      RETURNING ${TOKEN_COLUMNS}`;
    return need(shape<DeviceTokenRow>(sql(text).get(deviceId, role, token, JSON.stringify(scopes), now), ["scopes"]));
  },
  "devices.token.revoke": ({ sql, now }, { deviceId, role }) => ({
    revoked: sql("UPDATE device_tokens SET revoked_at = ? WHERE device_id = ? AND role = ? AND revoked_at IS NULL").run(now, deviceId, role).changes === 1,
  }),
  "devices.token.used"({ sql, now }, { deviceId, role }) {
    sql("UPDATE device_tokens SET last_used_at = ? WHERE device_id = ? AND role = ?").run(now, deviceId, role);
  },
  "pairing.request"({ sql, now }, { id, kind, subject, expiresAt, data, code }) {
    sql("DELETE FROM pairing_requests WHERE expires_at <= ?").run(now);
    const text = `INSERT INTO pairing_requests (id, kind, subject, code, created_at, expires_at, data) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kind, subject) DO NOTHING`;
    const done = sql(text).run(id, kind, subject, code ?? null, now, expiresAt, JSON.stringify(data ?? null));
    const request = need(shape<PairingRow>(sql(`SELECT ${PAIRING_COLUMNS} FROM pairing_requests WHERE kind = ? AND subject = ?`).get(kind, subject), ["data"]));
    return { created: done.changes === 1, request };
  },
  "pairing.take": ({ sql, now }, { id }) => shape<PairingRow>(sql(TAKE).get(id, now), ["data"]),
  "pairing.redeem"({ sql, now }, { id, channel, account, sender, source }) {
    const taken = shape<PairingRow>(sql(TAKE).get(id, now), ["data"]);
    if (taken) sql(ALLOW).run(channel, account, sender, source, now);
    return taken;
  },
  "allow.add": ({ sql, now }, { channel, account, sender, source }) => ({
    added: sql(ALLOW).run(channel, account, sender, source, now).changes === 1,
  }),
  "allow.remove": ({ sql }, { channel, account, sender }) => ({
    removed: sql("DELETE FROM allow_entries WHERE channel = ? AND account = ? AND sender = ?").run(channel, account, sender).changes === 1,
  }),
} satisfies WriteHandlers<DevicesWrites>;

export const devicesReads = {
  "devices.get": ({ sql }, { id }) => shape<DeviceRow>(sql(`SELECT ${DEVICE_COLUMNS} FROM devices WHERE id = ?`).get(id), ["data"]),
  "devices.list": ({ sql }) => shapeAll<DeviceRow>(sql(`SELECT ${DEVICE_COLUMNS} FROM devices ORDER BY approved_at DESC, id`).all(), ["data"]),
  "devices.tokens"({ sql }, { deviceId }) {
    const { text, values } = where([["device_id = ?", deviceId]]);
    return shapeAll<DeviceTokenRow>(sql(`SELECT ${TOKEN_COLUMNS} FROM device_tokens WHERE ${text} ORDER BY device_id, role`).all(...values), ["scopes"]);
  },
  "pairing.list"({ sql }, { kind, subjectPrefix, now }) {
    const { text, values } = where([
      ["kind = ?", kind],
      ["subject LIKE ? ESCAPE '\\'", subjectPrefix === undefined ? undefined : likePrefix(subjectPrefix)],
    ]);
    return shapeAll<PairingRow>(
      sql(`SELECT ${PAIRING_COLUMNS} FROM pairing_requests WHERE expires_at > ? AND ${text} ORDER BY created_at, id`).all(now, ...values),
      ["data"],
    );
  },
  "pairing.find": ({ sql }, { kind, code, now }) =>
    shape<PairingRow>(sql(`SELECT ${PAIRING_COLUMNS} FROM pairing_requests WHERE kind = ? AND code = ? AND expires_at > ? LIMIT 1`).get(kind, code, now), [
      "data",
    ]),
  "allow.list"({ sql }, { channel, account }) {
    const { text, values } = where([
      ["channel = ?", channel],
      ["account = ?", account],
    ]);
    return shapeAll<AllowRow>(
      sql(`SELECT channel, account, sender, source, added_at AS addedAt FROM allow_entries WHERE ${text} ORDER BY channel, account, sender`).all(...values),
    );
  },
} satisfies ReadHandlers<DevicesReads>;
