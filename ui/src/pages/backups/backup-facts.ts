import type { MethodResult } from "openclaw/client";
import { bytes } from "../../base/figures.ts";
import { t } from "../../words/words.ts";

export type Backups = MethodResult<"backup.list">;
export type Backup = Backups["backups"][number];
export type BackupJob = NonNullable<Backups["job"]>;

const WORKING: Readonly<Record<BackupJob["kind"], string>> = {
  create: t("Creating a backup"),
  verify: t("Verifying the backup"),
  restore: t("Unpacking and verifying the backup"),
};

/** What runs, and how far it is. */
export function jobWords({ kind, done, total }: Pick<BackupJob, "kind" | "done" | "total">): string {
  return total === 0 ? `${WORKING[kind]}…` : t`${WORKING[kind]}: ${bytes(done)} of ${bytes(total)}`;
}

/** How a job ended, and whether that is good. */
export function endWords(job: BackupJob): { readonly good: boolean; readonly text: string; readonly lines: readonly string[] } {
  const { kind, name, error, verified, created } = job;
  if (error !== null) return { good: false, text: error, lines: [] };
  if (kind === "verify" && verified) {
    if (verified.ok) return { good: true, text: t`${name ?? ""} is complete and undamaged: ${verified.files ?? 0} files.`, lines: verified.notes };
    const isUnread = verified.reason !== undefined && verified.reason !== "damaged";
    return { good: false, text: isUnread ? t`${name ?? ""} could not be opened.` : t`${name ?? ""} is damaged. Do not rely on it.`, lines: verified.problems };
  }
  if (kind === "create" && created) {
    const left = created.left.filter(({ reason }) => reason.startsWith("workspace"));
    const lines = left.length === 0 ? [] : [t("The agents’ workspaces are not in it.")];
    return { good: true, text: t`${name ?? ""} was created: ${created.files} files, ${bytes(created.bytes)} before compression.`, lines };
  }
  return { good: true, text: t("The gateway is restarting from the backup."), lines: [] };
}

/** Base64 as bytes. */
export function decodePart(data: string): Uint8Array<ArrayBuffer> {
  const letters = atob(data);
  const part = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) part[at] = letters.charCodeAt(at);
  return part;
}
