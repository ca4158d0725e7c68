import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { DATABASE } from "./contents.ts";
import { integrityProblems } from "./database.ts";
import { drain, readBackup } from "./read.ts";
import type { VerifyOptions, VerifyReport } from "./types.ts";

/** Verifying writes only a copy of the database, so only the archive's own size limits it. */
const LIMITS = { maxBytes: Number.MAX_SAFE_INTEGER, maxFiles: 5_000_000 };

/** Reads a whole backup: every hash, and the database through SQLite. Never throws for a bad backup. */
export async function verifyBackup(options: VerifyOptions): Promise<VerifyReport> {
  const scratch = mkdtempSync(join(options.scratch ?? tmpdir(), "openclaw-verify-"));
  const copy = join(scratch, DATABASE);
  let hasDatabase = false;
  try {
    const { manifest, problems, notes, unopened } = await readBackup(options.backup, {
      limits: LIMITS,
      passphrase: options.passphrase,
      progress: options.progress,
      take: async (file, body) => {
        if (file.name !== `state/${DATABASE}`) return drain(body);
        hasDatabase = true;
        await pipeline(body, createWriteStream(copy, { flags: "wx", mode: 0o600 }));
      },
    });
    const damage = hasDatabase && problems.length === 0 ? await integrityProblems(copy) : [];
    const all = [...problems, ...damage.map((text) => `the database: ${text}`)];
    return { ok: all.length === 0, ...(all.length === 0 ? {} : { reason: unopened ?? "damaged" }), problems: all, notes, ...(manifest ? { manifest } : {}) };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
