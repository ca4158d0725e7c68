import { AppError } from "../../../base/errors.ts";
import type { DeletedSession, TrashReads, TrashWrites } from "../../areas/trash.ts";
import { shape, type ReadHandlers, type WriteHandlers } from "../handlers.ts";
import { withoutParts } from "./session-parts.ts";

export const trashWrites = {
  "trash.put"({ sql, now }, { id, key, agentId, entry, extensions }) {
    const text = "INSERT INTO deleted_sessions (id, key, agent_id, entry, extensions, deleted_at) VALUES (?, ?, ?, ?, ?, ?)";
    sql(text).run(id, key, agentId, JSON.stringify(withoutParts(entry)), JSON.stringify(extensions), now);
  },
  "trash.take"({ sql }, { id }) {
    if (sql("DELETE FROM deleted_sessions WHERE id = ?").run(id).changes === 1) return;
    throw new AppError("CONFLICT", `the deletion ${id} was already undone, or has expired`, { details: { id } });
  },
} satisfies WriteHandlers<TrashWrites>;

export const trashReads = {
  "trash.get": ({ sql }, { id }) =>
    shape<DeletedSession>(sql("SELECT id, key, agent_id AS agentId, entry, extensions, deleted_at AS deletedAt FROM deleted_sessions WHERE id = ?").get(id), [
      "entry",
      "extensions",
    ]),
} satisfies ReadHandlers<TrashReads>;
