import type { SessionRow as Row } from "../../../protocol/index.ts";
import type { SessionRow, ShownSession } from "../../../store/index.ts";
import { kindOf } from "./keys.ts";
import { sessionModel, type ModelDefaults } from "./models.ts";

/** Fields of the stored entry that a row shows as they are. */
const SHOWN = [
  "label",
  "displayName",
  "channel",
  "subject",
  "groupChannel",
  "space",
  "chatType",
  "origin",
  "sessionId",
  "systemSent",
  "abortedLastRun",
  "thinkingLevel",
  "verboseLevel",
  "reasoningLevel",
  "elevatedLevel",
  "sendPolicy",
  "groupActivation",
  "execHost",
  "execSecurity",
  "execAsk",
  "execNode",
  "inputTokens",
  "outputTokens",
  "responseUsage",
  "deliveryContext",
  "lastChannel",
  "lastTo",
  "lastAccountId",
  "pinnedAt",
  "archivedAt",
  "folder",
] as const;

/** A session as lists show it. */
export function sessionRow({ key, entry }: SessionRow, defaults: ModelDefaults): Row {
  const shown = Object.fromEntries(SHOWN.filter((name) => entry[name] !== undefined && entry[name] !== null).map((name) => [name, entry[name]]));
  const fresh = entry.totalTokens !== undefined && entry.totalTokensFresh !== false;
  const contextTokens = entry.contextTokens ?? defaults.contextTokens;
  return {
    key,
    kind: kindOf(key, entry.chatType),
    ...shown,
    updatedAt: entry.updatedAt,
    ...(fresh ? { totalTokens: entry.totalTokens } : {}),
    totalTokensFresh: fresh,
    ...sessionModel(entry, defaults),
    ...(contextTokens === null ? {} : { contextTokens }),
  };
}

/** A session as it was read, with what people see of it when that was asked for. */
export type ListedSession = SessionRow & Partial<Pick<ShownSession, "name" | "title" | "last">>;

/** What older clients call a session without a label: what its chat is called, else how it began, else its id and day. */
function derivedTitle({ title, entry }: ListedSession): string {
  const { displayName, subject, sessionId, updatedAt } = entry;
  for (const name of [displayName, subject, title]) if (typeof name === "string" && name.trim() !== "") return name.trim();
  return `${sessionId.slice(0, 8)} (${new Date(updatedAt).toISOString().slice(0, 10)})`;
}

/** What plugins keep in a session and show of it. */
export type ExtensionsOf = (key: string, sessionId: string | undefined) => Promise<NonNullable<Row["pluginExtensions"]>>;

export interface RowOptions {
  readonly defaults: ModelDefaults;
  readonly titles: boolean;
  readonly last: boolean;
  readonly extensions?: ExtensionsOf | undefined;
}

/** Rows with names and last messages, as far as they are asked for. */
export async function sessionRows(sessions: readonly ListedSession[], { defaults, titles, last, extensions }: RowOptions): Promise<readonly Row[]> {
  const rows = sessions.map((session) => ({
    ...sessionRow(session, defaults),
    ...(titles && session.name !== undefined ? { name: session.name, derivedTitle: derivedTitle(session) } : {}),
    ...(last && session.last !== undefined ? { lastMessagePreview: session.last } : {}),
  }));
  if (!extensions) return rows;
  const shown = await Promise.all(rows.map((row) => extensions(row.key, row.sessionId)));
  return rows.map((row, at) => (shown[at]?.length ? { ...row, pluginExtensions: shown[at] } : row));
}
