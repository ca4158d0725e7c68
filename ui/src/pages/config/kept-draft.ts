import { createDrafts } from "../chat/composer-drafts.ts";
import type { EditorDeps, KeptDraft } from "./model/editor.ts";

const PLACE = "config.draft";

function readDraft(text: string): KeptDraft | undefined {
  try {
    return JSON.parse(text) as KeptDraft;
  } catch {
    return undefined;
  }
}

/** What this tab has written and not saved: another tab that edits the same file neither replaces nor removes it. */
export function keptDraft(): EditorDeps["kept"] {
  const drafts = createDrafts();
  return {
    get: () => readDraft(drafts.load(PLACE)),
    set: (draft) => drafts.save(PLACE, draft === undefined ? "" : JSON.stringify(draft)),
  };
}
