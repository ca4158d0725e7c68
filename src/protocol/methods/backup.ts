import { method } from "../method.ts";
import { amount, choice, closed, done, effect, filled, flag, list, literal, maybe, moment, none, orNull, text, texts } from "../pieces.ts";

const name = () => filled({ maxLength: 200, description: "From `backup.list`." });
const passphrase = () => maybe(filled({ maxLength: 1024, description: "Passphrase of an encrypted backup. It is not stored." }));

const Left = closed({ path: text(), reason: text() });

const Job = closed({
  id: filled(),
  kind: choice(["create", "verify", "restore"]),
  name: orNull(text({ description: "Name of the backup; null until it is known." })),
  state: choice(["running", "done", "failed"]),
  startedAtMs: moment(),
  endedAtMs: orNull(moment()),
  done: amount({ description: "Bytes." }),
  total: amount({ description: "Bytes in total; may grow." }),
  label: text({ description: "The file being processed." }),
  error: orNull(text()),
  created: maybe(closed({ files: amount(), bytes: amount(), left: list(Left, { description: "What was left out." }) })),
  verified: maybe(
    closed({
      ok: flag(),
      reason: maybe(text()),
      problems: texts(),
      notes: texts(),
      createdAt: maybe(text()),
      madeBy: maybe(text()),
      files: maybe(amount()),
    }),
  ),
});

const started = done({ job: Job });

/** Copies of the whole state, in the folder `backups` of the state folder. One job at a time. Ours. */
export const backupMethods = {
  "backup.list": method({
    access: "operator.admin",
    params: none(),
    result: closed({
      folder: text(),
      stateDir: text(),
      backups: list(closed({ name: filled(), bytes: amount(), createdAtMs: moment(), encrypted: flag(), form: choice(["tar.gz", "folder"]) }), {
        description: "Newest first.",
      }),
      job: orNull(Job),
      restored: orNull(
        closed({
          atMs: moment(),
          backup: text({ description: "Path of the backup that this state was restored from." }),
          kept: orNull(text({ description: "Where the previous state is." })),
          notes: texts({ description: "What was not restored in place." }),
        }),
      ),
      failed: orNull(closed({ path: orNull(text({ description: "Where the restored state is, if it was kept." })), reason: text() })),
      commands: closed({ create: text(), restore: text() }),
    }),
    effect: false,
    module: "store",
    summary: "Lists the backups, the current or last job, and the backup that this state was restored from.",
  }),
  "backup.create": method({
    access: "operator.admin",
    params: effect({ passphrase: passphrase(), includeWorkspace: maybe(flag()) }),
    result: started,
    effect: true,
    module: "store",
    summary: "Starts a backup while the gateway runs. `backup.list` shows its progress.",
  }),
  "backup.verify": method({
    access: "operator.admin",
    params: effect({ name: name(), passphrase: passphrase() }),
    result: started,
    effect: true,
    module: "store",
    summary: "Starts verifying a backup: every checksum, and the database.",
  }),
  "backup.restore": method({
    access: "operator.admin",
    params: effect({ name: name(), passphrase: passphrase(), confirm: literal(true) }),
    result: started,
    effect: true,
    module: "store",
    summary: "Unpacks and verifies a backup beside the state folder, then restarts the gateway on it. On any failure it keeps the current state.",
  }),
  "backup.read": method({
    access: "operator.admin",
    params: closed({ name: name(), offset: amount() }),
    result: closed({ data: text({ description: "Base64." }), total: amount({ description: "Bytes of the file." }) }),
    effect: false,
    module: "store",
    summary: "Returns the next part of a backup's file, at most 512 KB. Empty at the end.",
  }),
  "backup.remove": method({
    access: "operator.admin",
    params: effect({ name: name() }),
    result: done({}),
    effect: true,
    module: "store",
    summary: "Deletes a backup.",
  }),
};
