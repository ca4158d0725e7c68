import type { SystemPromptReport } from "../../../agent/index.ts";
import type { MethodParams, MethodResult } from "../../../protocol/index.ts";
import { contextOf, entryOfRow, knownTokens, newestRows, pathItem, tokensOfChars, type PathItem } from "../../../sessions/index.ts";
import type { SessionRow, Store } from "../../../store/index.ts";
import type { MethodDeps } from "../deps.ts";
import { findSession } from "../sessions/keys.ts";
import { modelDefaults, sessionModel } from "../sessions/models.ts";
import { liveFile } from "../sessions/transcripts.ts";

type Result = MethodResult<"sessions.context">;
type Part = Result["parts"][number];

/** Entries that are looked at: more than a model's window holds. */
const MOST_ENTRIES = 2000;

const part = (kind: Part["kind"], label: string, chars: number, truncated = false): Part => ({
  kind,
  label,
  chars,
  tokens: tokensOfChars(chars),
  ...(truncated ? { truncated } : {}),
});

const present = (parts: readonly Part[]): readonly Part[] => parts.filter(({ chars }) => chars > 0);

/** What the last run's report says of everything but the conversation. Skills, the list of tools and files stand inside of the system prompt. */
function promptParts({ systemPrompt, injectedWorkspaceFiles, skills, tools }: SystemPromptReport): readonly Part[] {
  const files = injectedWorkspaceFiles.map(({ name, injectedChars, truncated }) => part("workspace", name, injectedChars, truncated));
  const inside = files.reduce((sum, { chars }) => sum + chars, skills.promptChars + tools.listChars);
  return present([
    part("system", "System prompt", Math.max(0, systemPrompt.chars - inside)),
    ...files,
    part("skills", "Skills", skills.promptChars),
    part("tools", "Tool list", tools.listChars),
    part("tools", "Tool schemas", tools.schemaChars),
  ]);
}

const LABELS = { user: "Your messages", assistant: "Answers and tool calls", toolResult: "Tool results" } as const;

/** What a message counts, without its text: only that is needed of many. */
function withoutText({ entry: { type, id }, message, ...item }: PathItem): PathItem {
  return { ...item, entry: id === undefined ? { type } : { type, id }, ...(message ? { message: { ...message, content: [] } } : {}) };
}

/** The newest entries, oldest first, up to the oldest one that the last summary kept. */
async function newestItems(store: Store, file: string): Promise<readonly PathItem[]> {
  const items: PathItem[] = [];
  let kept: string | undefined;
  for await (const row of newestRows(store, file, MOST_ENTRIES)) {
    const entry = entryOfRow(row);
    if (!entry) continue;
    const item = withoutText(pathItem(entry));
    items.push(item);
    if (kept !== undefined && entry.id === kept) break;
    kept ??= item.firstKeptId;
  }
  return items.reverse();
}

/** The conversation as far as a model sees it: what came before the last summary is gone. */
async function messageParts(store: Store, session: SessionRow): Promise<readonly Part[]> {
  const file = await liveFile(store, session);
  const items = file === undefined ? [] : await newestItems(store, file);
  const { pieces, compactedAt } = contextOf(items);
  const chars = { user: 0, assistant: 0, toolResult: 0 };
  let summary = 0;
  for (const piece of pieces) {
    if (piece.at === compactedAt) summary += piece.chars;
    else chars[piece.message.role] += piece.chars;
  }
  const said = Object.entries(LABELS).map(([role, label]) => part("messages", label, chars[role as keyof typeof chars]));
  return present([part("summary", "Summary of earlier messages", summary), ...said]);
}

/** How full the model's memory is, and of what: the data of `/context`. */
export async function sessionContext({ key: written }: MethodParams<"sessions.context">, deps: Pick<MethodDeps, "config" | "store">): Promise<Result> {
  const { key, session } = await findSession(written, deps);
  const defaults = modelDefaults(deps.config.current);
  if (!session) return { key, contextTokens: defaults.contextTokens ?? 0, usedTokens: 0, measured: false, parts: [] };
  const { entry } = session;
  const report = entry["systemPromptReport"] as SystemPromptReport | undefined;
  const parts = [...(report ? promptParts(report) : []), ...(await messageParts(deps.store, session))];
  const counted = knownTokens(entry);
  const { modelProvider, model } = sessionModel(entry, defaults);
  return {
    key,
    ...(model === null ? {} : { model: modelProvider === null ? model : `${modelProvider}/${model}` }),
    contextTokens: entry.contextTokens ?? defaults.contextTokens ?? 0,
    usedTokens: counted ?? parts.reduce((sum, { tokens }) => sum + tokens, 0),
    measured: counted !== undefined,
    parts,
  };
}
