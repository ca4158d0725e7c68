import type { CommandsReads, CommandsWrites, AllowedCommand } from "../../areas/commands.ts";
import { shapeAll, where, type ReadHandlers, type WriteHandlers } from "../handlers.ts";

const COLUMNS = "id, agent_id AS agentId, program, rule, command, created_at AS createdAt, last_used_at AS lastUsedAt";

export const commandsWrites = {
  "commands.allow"({ sql, now }, { id, agentId, program, rule, command }) {
    const text = `INSERT INTO remembered_commands (id, agent_id, program, rule, command, created_at) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (agent_id, program, rule) DO NOTHING`;
    sql(text).run(id, agentId, program, JSON.stringify(rule), command, now);
  },
  "commands.used"({ sql, now }, { ids }) {
    sql("UPDATE remembered_commands SET last_used_at = ? WHERE id IN (SELECT value FROM json_each(?))").run(now, JSON.stringify(ids));
  },
  "commands.remove": ({ sql }, { id }) => sql("DELETE FROM remembered_commands WHERE id = ?").run(id).changes > 0,
} satisfies WriteHandlers<CommandsWrites>;

export const commandsReads = {
  "commands.list"({ sql }, { agentId }) {
    const { text, values } = where([["agent_id = ?", agentId]]);
    return shapeAll<AllowedCommand>(sql(`SELECT ${COLUMNS} FROM remembered_commands WHERE ${text} ORDER BY created_at, id`).all(...values), ["rule"]);
  },
} satisfies ReadHandlers<CommandsReads>;
