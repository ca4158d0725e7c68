import { clip } from "../../../base/text.ts";
import type { SessionRow as Row } from "../../../protocol/index.ts";
import type { SessionRow, Store } from "../../../store/index.ts";
import { kindOf } from "./keys.ts";
import { sessionModel, type ModelDefaults } from "./models.ts";
import { liveFile, messagesOf, newestEntries, shownText } from "./transcripts.ts";

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
] as const;

const TITLE_CHARS = 60;
const PREVIEW_CHARS = 120;
/** Lines looked at for a title or a last message. */
const LOOKED_AT = 20;

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

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** A name for a session that has none: what its chat is called, else how it began, else its id and day. */
export async function derivedTitle(store: Store, session: SessionRow, file: string | undefined): Promise<string> {
  const { displayName, subject, sessionId, updatedAt } = session.entry;
  for (const name of [displayName, subject]) if (typeof name === "string" && name.trim() !== "") return name.trim();
  const first = file === undefined ? [] : await store.read("transcripts.page", { file, after: 0, limit: LOOKED_AT });
  const messages = messagesOf(first);
  const said = oneLine(
    messages
      .filter((message) => message.role === "user")
      .map(shownText)
      .find((text) => text !== "") ?? "",
  );
  if (said === "") return `${sessionId.slice(0, 8)} (${new Date(updatedAt).toISOString().slice(0, 10)})`;
  if (said.length <= TITLE_CHARS) return said;
  const cut = said.slice(0, TITLE_CHARS);
  const space = cut.lastIndexOf(" ");
  return clip(said, space > TITLE_CHARS / 2 ? space : TITLE_CHARS);
}

/** The last thing somebody said. */
export async function lastMessage(store: Store, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const messages = messagesOf(await newestEntries(store, file, LOOKED_AT));
  const said = messages.filter((message) => message.role === "user" || message.role === "assistant").map(shownText);
  const text = said.findLast((line) => line !== "");
  return text === undefined ? undefined : clip(oneLine(text), PREVIEW_CHARS);
}

/** What plugins keep in a session and show of it. */
export type ExtensionsOf = (key: string, sessionId: string | undefined) => Promise<NonNullable<Row["pluginExtensions"]>>;

/** Rows with titles and last messages, as far as they are asked for. */
export async function sessionRows(
  store: Store,
  sessions: readonly SessionRow[],
  options: { readonly defaults: ModelDefaults; readonly titles: boolean; readonly last: boolean; readonly extensions?: ExtensionsOf | undefined },
): Promise<readonly Row[]> {
  const { extensions } = options;
  if (extensions) {
    const rows = await sessionRows(store, sessions, { ...options, extensions: undefined });
    const shown = await Promise.all(rows.map((row) => extensions(row.key, row.sessionId)));
    return rows.map((row, at) => (shown[at]!.length === 0 ? row : { ...row, pluginExtensions: shown[at]! }));
  }
  return Promise.all(
    sessions.map(async (session) => {
      const row = sessionRow(session, options.defaults);
      if (!options.titles && !options.last) return row;
      const file = await liveFile(store, session);
      const lastMessagePreview = options.last ? await lastMessage(store, file) : undefined;
      return {
        ...row,
        ...(options.titles ? { derivedTitle: await derivedTitle(store, session, file) } : {}),
        ...(lastMessagePreview === undefined ? {} : { lastMessagePreview }),
      };
    }),
  );
}
