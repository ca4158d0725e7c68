import { transcriptFile, type EntryInput, type Store } from "../../src/store/index.ts";

/** When seeded transcripts begin. */
export const T0 = Date.parse("2026-01-01T00:00:00.000Z");

/** A line of a transcript, so many milliseconds after its beginning. Without an id it is one of the first format. */
export function line(id: string | undefined, parentId: string | null, fields: object, n = 0): EntryInput {
  const type = (fields as { type?: string }).type ?? "message";
  const whole = { type, ...(id === undefined ? {} : { id, parentId }), timestamp: new Date(T0 + n).toISOString(), ...fields };
  return { ...(id === undefined ? {} : { id, parentId }), type, line: JSON.stringify(whole) };
}

export const said = (text: string) => ({ message: { role: "user", content: text } });

/** A session with a transcript that holds these lines. Gives the transcript's name. */
export async function seedSession(store: Store, entries: readonly EntryInput[], key: string, sessionId = "s1"): Promise<string> {
  const file = transcriptFile("main", sessionId);
  const header = JSON.stringify({ type: "session", version: 3, id: sessionId, timestamp: new Date(T0).toISOString() });
  await store.commit([
    ["sessions.put", { key, agentId: "main", entry: { sessionId, updatedAt: T0 }, version: 0 }],
    ["transcripts.ensure", { file, agentId: "main", sessionId, header }],
    ["transcripts.append", { file, entries }],
  ]);
  return file;
}
