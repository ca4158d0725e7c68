import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AppError, fileError, messageOf } from "../../base/errors.ts";
import { ensureFolder, syncFolder } from "../../base/files.ts";
import type { SalvageReport } from "../damage/types.ts";
import { lockingProcesses, nameHolders } from "../lock-holders.ts";
import { isDamage, isHeld, storeError } from "../sqlite/failure.ts";
import { assertReadable, migrate, MIGRATIONS, type Migration } from "../sqlite/migrations.ts";
import { BUSY_MS, suspectFile } from "../sqlite/open.ts";
import { numberOf } from "../rows.ts";

export interface OpenOptions {
  /** Absolute path of the database file. */
  readonly file: string;
  readonly stateDir: string;
  readonly now: () => number;
  readonly migrations?: readonly Migration[];
}

export interface Opened {
  readonly db: DatabaseSync;
  /** There was no database before. */
  readonly created: boolean;
  readonly salvage: SalvageReport | undefined;
}

const CACHE_KIB = 4000;
/** A turn changes a row or an index entry on some thirty pages, and writes each of them whole: small pages halve the amount. */
const NEW_FILE = "PRAGMA page_size = 2048; PRAGMA auto_vacuum = INCREMENTAL";

/** Names the owner when the file belongs to another user. Root may open all: SQLite gives the files it creates to the database's owner. */
function assertOwner(file: string): void {
  const uid = process.geteuid?.();
  if (uid === undefined || uid === 0) return;
  const owner = statSync(file).uid;
  if (owner === uid) return;
  throw new AppError(
    "PERMISSION_DENIED",
    `${file} belongs to user ${owner}, this process runs as user ${uid}; start it as that user, or change the file's owner`,
    {
      details: { owner, uid },
    },
  );
}

function connect(options: OpenOptions): DatabaseSync {
  const db = new DatabaseSync(options.file, { timeout: BUSY_MS, enableForeignKeyConstraints: false });
  try {
    assertReadable(db, options.migrations ?? MIGRATIONS);
    // It only affects an empty file; any other gets a page written by it, and four syncs, at every start.
    if (numberOf(db.prepare("PRAGMA page_count")) === 0) db.exec(NEW_FILE);
    db.exec("PRAGMA journal_mode = WAL");
    db.exec("PRAGMA synchronous = FULL");
    db.exec("PRAGMA secure_delete = ON");
    // Checkpoints run between groups, where their failure is seen and no commit waits for one.
    db.exec("PRAGMA wal_autocheckpoint = 0");
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
    migrate(db, options.now(), options.migrations ?? MIGRATIONS);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

async function salvageInto(options: OpenOptions, reason: string): Promise<SalvageReport> {
  const { salvage } = await import("../damage/salvage.ts");
  const report = salvage({
    file: options.file,
    stateDir: options.stateDir,
    now: options.now,
    reason,
    prepare: (db) => {
      db.exec(NEW_FILE);
      migrate(db, options.now(), options.migrations ?? MIGRATIONS);
    },
  });
  rmSync(suspectFile(options.file), { force: true });
  return report;
}

/** Opens the database for writing: creates it, migrates it, or salvages a damaged one. */
export async function openDatabase(options: OpenOptions): Promise<Opened> {
  const { file } = options;
  ensureFolder(dirname(file));
  // A salvage that died between its renames has the saved database ready.
  if (!existsSync(file) && existsSync(join(options.stateDir, "damaged"))) (await import("../damage/swap.ts")).finishSalvage(file, options.stateDir);
  const created = !existsSync(file);
  if (created) touch(file);
  else assertOwner(file);
  let salvage: SalvageReport | undefined;
  try {
    if (existsSync(suspectFile(file)) && !created) salvage = await salvageInto(options, readFileSync(suspectFile(file), "utf8").trim());
    let db: DatabaseSync;
    try {
      db = connect(options);
    } catch (error) {
      if (!isDamage(error)) throw error;
      salvage = await salvageInto(options, messageOf(error));
      db = connect(options);
    }
    return { db, created, salvage };
  } catch (error) {
    if (!isHeld(error)) throw storeError(`could not open ${file}`, error);
    const by = lockingProcesses(file);
    const message = `could not open ${file}: ${nameHolders(by)} has locked it for writing; end that process, or its transaction, and start again`;
    throw new AppError("LOCKED", message, { cause: error, details: { file, pids: (by ?? []).map(({ pid }) => pid) } });
  }
}

/** An empty file is an empty database. Created here, only its owner may read it and what SQLite puts beside it, and its name survives a power cut. */
function touch(file: string): void {
  try {
    closeSync(openSync(file, "a", 0o600));
    syncFolder(dirname(file));
  } catch (error) {
    throw fileError(file, "could not create the database", error);
  }
}
