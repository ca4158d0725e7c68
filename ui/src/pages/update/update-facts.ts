import type { MethodResult } from "openclaw/client";
import type { Tone } from "../../parts/state.ts";
import { t } from "../../words/words.ts";

export type UpdateStatus = MethodResult<"update.status">;

/** What is known about newer versions, in a sentence. */
export function availability({ git, install, isStale, onDisk, version }: UpdateStatus): { readonly tone: Tone; readonly text: string } {
  if (isStale || (onDisk !== null && onDisk !== version)) return { tone: "warn", text: t("A newer build is on disk. Restart the process to use it.") };
  if (install === "package" || !git) return { tone: "", text: t("Whether a newer version exists is not known: the program is not a Git checkout.") };
  if (git.upstream === null) return { tone: "", text: t("Whether a newer version exists is not known: the branch has no upstream.") };
  if (git.fetchedAtMs === null) return { tone: "", text: t("Not fetched yet. Check for updates to find out.") };
  if (git.behind) return { tone: "info", text: git.behind === 1 ? t("1 newer commit is available.") : t`${git.behind} newer commits are available.` };
  return { tone: "good", text: t`Up to date with ${git.upstream}.` };
}
