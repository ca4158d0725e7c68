import { expect, test } from "vitest";
import { decodePart, endWords, jobWords, type BackupJob } from "./backup-facts.ts";

const job = (over: Partial<BackupJob>): BackupJob => ({
  id: "1",
  kind: "create",
  name: "openclaw-backup-x.tar.gz",
  state: "done",
  startedAtMs: 1,
  endedAtMs: 2,
  done: 0,
  total: 0,
  label: "",
  error: null,
  ...over,
});

test("a job says how far it is once that is known", () => {
  expect(jobWords(job({ state: "running" }))).toBe("Creating a backup…");
  expect(jobWords(job({ kind: "verify", done: 1500, total: 3000 }))).toBe("Verifying the backup: 1.5 kB of 3 kB");
});

test("a backup that was made says what is in it, and what is not", () => {
  const created = { files: 3, bytes: 2000, left: [{ path: "workspace", reason: "workspace: include it with --include-workspace" }] };
  expect(endWords(job({ created }))).toEqual({
    good: true,
    text: "openclaw-backup-x.tar.gz was created: 3 files, 2 kB before compression.",
    lines: ["The agents’ workspaces are not in it."],
  });
});

test("a damaged backup is never called complete, and one that stays closed is not called damaged", () => {
  const verified = (over: object) => ({ ok: false, problems: ["a"], notes: [], ...over });
  expect(endWords(job({ kind: "verify", verified: verified({ reason: "damaged" }) })).text).toBe("openclaw-backup-x.tar.gz is damaged. Do not rely on it.");
  expect(endWords(job({ kind: "verify", verified: verified({ reason: "passphrase_wrong" }) })).text).toBe("openclaw-backup-x.tar.gz could not be opened.");
  expect(endWords(job({ kind: "verify", verified: { ok: true, problems: [], notes: [], files: 4 } }))).toMatchObject({ good: true });
  expect(endWords(job({ state: "failed", error: "no space left" }))).toEqual({ good: false, text: "no space left", lines: [] });
});

test("parts of a file are the bytes that were sent", () => {
  expect([...decodePart("AAH/")]).toEqual([0, 1, 255]);
});
