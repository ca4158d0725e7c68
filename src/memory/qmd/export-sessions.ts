import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { writeAtomic } from "../../base/files.ts";
import { isRecord } from "../../base/records.ts";
import { createRedactor } from "../../base/redaction.ts";
import type { ConversationRow, Store } from "../../store/index.ts";
import { isGroup, passageOf } from "../thread/sync-transcripts.ts";

/** What is known of an exported conversation. */
export interface Exported {
  readonly lines: number;
  readonly sessionKey: string | null;
  /** Of its last message, in milliseconds since the epoch. */
  readonly at: number;
}

export interface SessionExport {
  /** Writes the conversations that grew, and removes those that are gone or too old. */
  run(): Promise<void>;
  /** The session that an exported file is of. */
  sessionOf(file: string): Exported | undefined;
}

export interface SessionExportDeps {
  readonly store: Pick<Store, "read">;
  readonly agentId: string;
  readonly folder: string;
  readonly retentionDays?: number | undefined;
  readonly clock: Clock;
}

const LIST = ".exported.json";
const DAY_MS = 86_400_000;
const PAGE = 500;
const LISTED = 1000;

const nameOf = ({ sessionId }: ConversationRow): string => `${sessionId.replaceAll(/[^A-Za-z0-9_-]/g, "_")}.md`;

/** Conversations as files that qmd can index: what people and the assistant said, without anything that looks like a secret. */
export function createSessionExport({ store, agentId, folder, retentionDays, clock }: SessionExportDeps): SessionExport {
  const redactor = createRedactor();
  let known: Map<string, Exported> | undefined;

  function read(): Map<string, Exported> {
    if (known) return known;
    known = new Map();
    try {
      const value: unknown = JSON.parse(readFileSync(join(folder, LIST), "utf8"));
      for (const [name, entry] of Object.entries(isRecord(value) ? value : {})) {
        if (!isRecord(entry) || typeof entry["lines"] !== "number" || typeof entry["at"] !== "number") continue;
        known.set(name, { lines: entry["lines"], at: entry["at"], sessionKey: typeof entry["sessionKey"] === "string" ? entry["sessionKey"] : null });
      }
    } catch {
      // There is none yet, or it is damaged: everything is written again.
    }
    return known;
  }

  const save = (name: string, text: string): void => writeAtomic(join(folder, name), text, { mode: 0o600, temporary: join(folder, `.${name}.tmp`) });

  async function textOf({ file, sessionKey, lines }: ConversationRow): Promise<{ readonly text: string; readonly at: number }> {
    const said: string[] = [];
    let at = 0;
    for (let after = -1; after < lines;) {
      const rows = await store.read("transcripts.page", { file, after, limit: PAGE });
      const last = rows.at(-1);
      if (!last) break;
      after = last.seq;
      for (const row of rows) {
        const passage = passageOf(row, isGroup(sessionKey));
        if (!passage) continue;
        at = Math.max(at, (passage.at ?? 0) * 1000);
        const who = passage.role === "assistant" ? "Assistant" : (passage.about ?? "User");
        said.push(`${who}: ${redactor.text(passage.text)}`);
      }
    }
    return { text: `${said.join("\n\n")}\n`, at };
  }

  async function conversations(): Promise<readonly ConversationRow[]> {
    const found: ConversationRow[] = [];
    for (let after = 0; ;) {
      const page = await store.read("transcripts.conversations", { agentId, after, limit: LISTED });
      found.push(...page.filter(({ file }) => !file.includes(".deleted.")));
      const last = page.at(-1);
      if (!last || page.length < LISTED) return found;
      after = last.n;
    }
  }

  return {
    async run() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const before = read();
      const now = new Map<string, Exported>();
      const oldest = retentionDays === undefined || retentionDays === 0 ? Number.NEGATIVE_INFINITY : clock.now() - retentionDays * DAY_MS;
      for (const row of await conversations()) {
        const name = nameOf(row);
        const exported = before.get(name);
        if (exported?.lines === row.lines && existsSync(join(folder, name))) {
          if (exported.at >= oldest) now.set(name, { ...exported, sessionKey: row.sessionKey ?? exported.sessionKey });
          continue;
        }
        const { text, at } = await textOf(row);
        if (at < oldest || text.trim() === "") continue;
        save(name, text);
        now.set(name, { lines: row.lines, sessionKey: row.sessionKey, at });
      }
      for (const name of readdirSync(folder)) if (name.endsWith(".md") && !now.has(name)) rmSync(join(folder, name), { force: true });
      save(LIST, JSON.stringify(Object.fromEntries(now)));
      known = now;
    },
    sessionOf: (file) => read().get(file.slice(file.lastIndexOf("/") + 1)),
  };
}
