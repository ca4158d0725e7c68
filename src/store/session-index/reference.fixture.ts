import { appendFileSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { expect } from "vitest";

export type Entry = Record<string, unknown> & { sessionId: string; updatedAt: number; sessionFile?: string; label?: string };

/**
 * Reads and writes a folder of sessions as the reference system does, based on its documentation alone, without the store's code. An index that is
 * not
 * as documented fails the test.
 */
export function referenceSystem(folder: string, index: string = join(folder, "sessions.json")) {
  function load(): Record<string, Entry> {
    const text = readFileSync(index, "utf8");
    const store = JSON.parse(text) as Record<string, Entry>;
    for (const [key, entry] of Object.entries(store)) {
      expect([key, typeof entry.sessionId, Number.isInteger(entry.updatedAt)]).toEqual([key, "string", true]);
      if (entry.sessionFile !== undefined) expect(isAbsolute(entry.sessionFile)).toBe(true);
    }
    expect(text).toBe(JSON.stringify(store, null, 2));
    if (process.platform !== "win32") expect(statSync(index).mode & 0o777).toBe(0o600);
    return store;
  }

  function save(store: Record<string, Entry>): void {
    const temporary = `${index}.${process.pid}.reference`;
    writeFileSync(temporary, JSON.stringify(store, null, 2), { mode: 0o600 });
    renameSync(temporary, index);
  }

  const fileOf = (entry: Entry): string => entry.sessionFile ?? join(folder, `${entry.sessionId}.jsonl`);

  /** Appends messages as a turn does; a new file gets its header first. */
  function append(entry: Entry, ...texts: readonly string[]): void {
    const file = fileOf(entry);
    const timestamp = new Date(entry.updatedAt).toISOString();
    if (!existsSync(file))
      writeFileSync(file, `${JSON.stringify({ type: "session", version: 3, id: entry.sessionId, timestamp, cwd: "/" })}\n`, { mode: 0o600 });
    for (const text of texts) {
      const lines = readFileSync(file, "utf8").trimEnd().split("\n");
      const last = JSON.parse(lines.at(-1)!) as { type: string; id: string };
      const id = (lines.length + 0x1000).toString(16).padStart(8, "0");
      const message = { role: "user", content: text, timestamp: entry.updatedAt };
      appendFileSync(file, `${JSON.stringify({ type: "message", id, parentId: last.type === "session" ? null : last.id, timestamp, message })}\n`);
    }
  }

  return {
    load,
    save,
    append,
    fileOf,
    texts: (entry: Entry): string[] =>
      readFileSync(fileOf(entry), "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as { type: string; message?: { content: string | { text?: string }[] } })
        .filter(({ type }) => type === "message")
        .map(({ message }) => message!.content)
        .map((content) => (typeof content === "string" ? content : content.map(({ text = "" }) => text).join(""))),
    /** Changes an entry as a turn or a command does. */
    change(key: string, fields: Partial<Entry>): Entry {
      const store = load();
      const entry = { ...store[key], ...fields } as Entry;
      save({ ...store, [key]: entry });
      return entry;
    },
    remove(...keys: readonly string[]): void {
      save(Object.fromEntries(Object.entries(load()).filter(([key]) => !keys.includes(key))));
    },
    /** `/new`: another session id, and the old transcript is renamed. */
    reset(key: string, sessionId: string, updatedAt: number): Entry {
      const { sessionFile: _file, ...old } = load()[key]!;
      renameSync(fileOf(load()[key]!), `${fileOf(load()[key]!)}.reset.2026-03-01T10-00-00.000Z`);
      return this.change(key, { ...old, sessionId, updatedAt, sessionFile: join(folder, `${sessionId}.jsonl`), systemSent: false });
    },
  };
}
