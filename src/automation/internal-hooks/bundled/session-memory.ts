import { rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { usageRow } from "../../../agent/index.ts";
import { messageOf } from "../../../base/errors.ts";
import { failpoint } from "../../../base/failpoints.ts";
import { shownText } from "../../../base/message-text.ts";
import { isRecord } from "../../../base/records.ts";
import { createRootedFiles } from "../../../base/rooted-files.ts";
import { clip } from "../../../base/text.ts";
import { defaultAgentId } from "../../../config/index.ts";
import { GREETING } from "../../../conversation/index.ts";
import type { InternalHookEvent, InternalHookHandler } from "../../../hooks/index.ts";
import { OFFLINE_MODEL } from "../../../models/index.ts";
import { agentOfKey, parseTranscriptLine, type ModelMessage } from "../../../protocol/index.ts";
import type { BundledDeps } from "./index.ts";

const DEFAULT_MESSAGES = 15;
const MOST_MESSAGES = 500;
/** Entries of the transcript that are looked at for them: calls of tools stand between. */
const LOOKED_AT = 2000;
const SLUG_MS = 15_000;
const SLUG_TOKENS = 64;
const SLUG_INPUT_CHARS = 4000;
const SLUG_CHARS = 40;
const SLUG_SYSTEM =
  "You name files. Answer with one short name for the conversation: one to four English words in lower case, joined by hyphens, such as api-design. Nothing else.";

interface Conversation {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly lines: readonly string[];
}

const sessionIdOf = (entry: unknown): string | undefined => (isRecord(entry) && typeof entry["sessionId"] === "string" ? entry["sessionId"] : undefined);

/**
 * The message of a line of the transcript, as `user: …` or `assistant: …`; undefined for everything else, commands, what other sessions wrote, and what
 * this program asked for.
 */
function shownLine(line: string): string | undefined {
  const parsed = parseTranscriptLine(line);
  const message = parsed?.kind === "entry" ? parsed.entry["message"] : undefined;
  if (!isRecord(message) || (message["role"] !== "user" && message["role"] !== "assistant")) return undefined;
  const { role, provenance } = message;
  if (isRecord(provenance) && provenance["kind"] === "inter_session") return undefined;
  const text = shownText(message);
  return text === "" || text.startsWith("/") || text === GREETING ? undefined : `${role}: ${text}`;
}

async function readConversation({ store, config }: BundledDeps, { sessionKey, context }: InternalHookEvent, most: number): Promise<Conversation | undefined> {
  const sessionId = sessionIdOf(context["previousSessionEntry"]) ?? sessionIdOf(context["sessionEntry"]);
  if (sessionId === undefined) return undefined;
  const agentId = agentOfKey(sessionKey, { defaultAgentId: defaultAgentId(config.current) });
  const files = await store.read("transcripts.ofSession", { agentId, sessionId });
  const file = (files.find(({ archivedAt }) => archivedAt === null) ?? files[0])?.file;
  const rows = file === undefined ? [] : await store.read("transcripts.path", { file, limit: LOOKED_AT });
  const lines = rows.flatMap(({ type, line }) => (type === "message" ? [shownLine(line)] : [])).filter((line) => line !== undefined);
  return { agentId, sessionKey, sessionId, lines: lines.slice(-most) };
}

/** A file's name out of what a model answered; undefined when nothing is left of it. */
function slugOf(answer: string): string | undefined {
  const words = answer
    .replaceAll(/<(think|thinking)>[\s\S]*?<\/\1>/gi, "")
    .trim()
    .split("\n")[0]
    ?.toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, SLUG_CHARS)
    .replaceAll(/^-+|-+$/g, "");
  return words && words.length >= 3 ? words : undefined;
}

/** Asks the agent's model once for a name; undefined when there is none to ask, it fails, or the money is spent. */
async function askForSlug(deps: BundledDeps, { agentId, sessionKey, sessionId, lines }: Conversation): Promise<string | undefined> {
  const { clock, ids, store, signal } = deps;
  const [models, budgets] = await Promise.all([deps.models.models(), deps.models.budgets()]);
  const { entry, fallbacks } = await models.select({ agentId });
  if (entry.provider === OFFLINE_MODEL.provider) return undefined;
  const payer = { agentId, sessionKey, runId: `session-memory:${ids.uuid()}`, channel: "webchat" };
  const messages: ModelMessage[] = [{ role: "user", content: clip(lines.join("\n"), SLUG_INPUT_CHARS), timestamp: clock.now() }];
  const started = clock.monotonic();
  const late = new AbortController();
  using _timer = clock.after(SLUG_MS, () => late.abort());
  const request = {
    runId: payer.runId,
    agentId,
    sessionKey,
    sessionId,
    models: [entry, ...fallbacks],
    thinking: "off",
    systemPrompt: SLUG_SYSTEM,
    messages,
  } as const;
  const permit = async ({ provider }: { readonly provider: string }): Promise<string | undefined> => {
    const budget = await budgets.check({ agentId, provider, senderId: "webchat" });
    return budget.state === "stop" ? budget.text : undefined;
  };
  for await (const event of models.call(agentId, { ...request, maxTokens: SLUG_TOKENS, permit, signal: AbortSignal.any([signal, late.signal]) })) {
    if (event.type !== "done") continue;
    const { result } = event;
    await store.write("usage.add", usageRow(payer, result.message, clock.monotonic() - started));
    return result.ok ? slugOf(result.message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")) : undefined;
  }
  return undefined;
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** A path in the folder that is not taken: with `-2`, `-3` and so on where it is. */
async function freePath(folder: string, name: string): Promise<string> {
  for (let count = 1; ; count += 1) {
    const path = join(folder, `${name}${count === 1 ? "" : `-${count}`}.md`);
    if (!(await exists(path))) return path;
  }
}

/**
 * Saves the end of a conversation that `/new` ends to `memory/<date>-<time>.md` in the workspace, at once. A model's name for the file takes the place of
 * the time when it comes: nobody waits for it.
 */
export function sessionMemory(deps: BundledDeps): InternalHookHandler {
  const { config, ids, log, workspaceOf, signal } = deps;

  async function nameFile(path: string, folder: string, date: string, conversation: Conversation): Promise<void> {
    const slug = await askForSlug(deps, conversation);
    if (slug === undefined || signal.aborted) return;
    await rename(path, await freePath(folder, `${date}-${slug}`));
    failpoint("session-memory.named");
  }

  return async (event) => {
    const { sessionKey, timestamp, context } = event;
    const settings: Readonly<Record<string, unknown>> = config.current.hooks?.internal?.entries?.["session-memory"] ?? {};
    const wanted = Number(settings["messages"] ?? DEFAULT_MESSAGES);
    const most = Number.isInteger(wanted) && wanted > 0 ? Math.min(wanted, MOST_MESSAGES) : DEFAULT_MESSAGES;
    const conversation = await readConversation(deps, event, most);
    // An agent that only greeted has nothing worth saving.
    if (!conversation?.lines.some((line) => line.startsWith("user: "))) return;
    const workspaceDir = workspaceOf(conversation.agentId);
    const folder = join(workspaceDir, "memory");
    const [date = "", time = ""] = timestamp.toISOString().slice(0, 19).split("T");
    const source = typeof context["commandSource"] === "string" ? context["commandSource"] : "unknown";
    const text = [
      `# Session: ${date} ${time} UTC`,
      "",
      `- **Session Key**: ${sessionKey}`,
      `- **Session ID**: ${conversation.sessionId}`,
      `- **Source**: ${source}`,
      "",
      "## Conversation Summary",
      "",
      ...conversation.lines,
      "",
    ].join("\n");
    const path = await freePath(folder, `${date}-${time.slice(0, 5).replace(":", "")}`);
    await createRootedFiles({ root: workspaceDir, unique: () => ids.hex(4) }).write(path, text);
    failpoint("session-memory.saved");
    log.info(`the conversation was saved to ${path}`, { sessionKey });
    if (settings["llmSlug"] === false) return;
    void nameFile(path, folder, date, conversation).catch((error: unknown) => log.debug(`no name could be generated for ${path}: ${messageOf(error)}`));
  };
}
