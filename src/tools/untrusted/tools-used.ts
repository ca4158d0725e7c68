import type { Store } from "../../store/index.ts";

const MOST_ENTRIES = 500;

/** Names of the tools whose results a session holds. */
export async function toolsUsed(store: Pick<Store, "read">, sessionKey: string): Promise<ReadonlySet<string>> {
  const session = await store.read("sessions.get", { key: sessionKey });
  if (!session) return new Set();
  const { agentId, entry } = session;
  const files = await store.read("transcripts.ofSession", { agentId, sessionId: entry.sessionId });
  const file = files.find(({ archivedAt }) => archivedAt === null)?.file;
  const rows = file === undefined ? [] : await store.read("transcripts.tail", { file, limit: MOST_ENTRIES });
  return new Set(rows.flatMap(({ line }) => /"toolName":"([^"]+)"/.exec(line)?.[1] ?? []));
}
