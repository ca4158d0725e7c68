/** Files of messages, and what is said in the recordings among them. */
import { AppError, messageOf } from "../../base/errors.ts";
import { buildMentionRegexes, matchesMentionPatterns, mayHoldCommand } from "../../channels/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { FinalizedMsgContext } from "../../protocol/index.ts";
import type { Inbound } from "../inbound.ts";
import { hasRecording, type Item } from "../items.ts";
import type { ConversationDeps, ItemFiles, KeptMedia } from "../ports.ts";

/** The line that shows the agent a stored file. */
const mediaLine = ({ path, mimeType }: { readonly path: string; readonly mimeType: string }): string => `[media attached: ${path} (${mimeType})]`;

const isAudio = (mimeType: string): boolean => mimeType.startsWith("audio/");
const MOST_RECORDINGS = 10;

/** The recordings of one message that are transcribed. */
function chosen(kept: readonly KeptMedia[], { config }: ConversationDeps): readonly KeptMedia[] {
  const { mode = "first", maxAttachments = MOST_RECORDINGS, prefer = "first" } = config.current.tools?.media?.audio?.attachments ?? {};
  const recordings = kept.filter(({ mimeType }) => isAudio(mimeType));
  const ordered = prefer === "last" ? recordings.toReversed() : recordings;
  return ordered.slice(0, mode === "all" ? maxAttachments : 1);
}

/** Rejects never: what goes wrong is a line. */
async function transcribed(
  { transcribe, log }: ConversationDeps,
  { agentId, sessionKey, abort: { signal } }: Item,
  { path, mimeType, durationSeconds }: KeptMedia,
  facts: { readonly channel: string; readonly accountId: string },
): Promise<Pick<ItemFiles, "lines" | "transcripts">> {
  try {
    const text = await transcribe?.({ path, mimeType, ...(durationSeconds === undefined ? {} : { durationSeconds }), ...facts, agentId, sessionKey }, signal);
    if (text === undefined) return { lines: [], transcripts: [] };
    return text === "" ? { lines: ["[media: no speech was recognized in the recording]"], transcripts: [] } : { lines: [], transcripts: [text] };
  } catch (error) {
    log.warn(`a recording could not be transcribed: ${messageOf(error)}`, facts);
    // What is wrong with the file helps its sender; what is wrong with a provider is for the log.
    const why = error instanceof AppError && error.code === "INVALID_INPUT" ? `: ${error.message}` : "";
    return { lines: [`[media: the recording could not be transcribed${why}]`], transcripts: [] };
  }
}

/** The stored files of a message. Those of a client are stored when it is accepted. */
async function keptOf({ keepMedia, log }: ConversationDeps, { channel, accountId, event, request }: Inbound, signal: AbortSignal) {
  if (request) return { kept: request.files ?? [], problems: [] };
  if (!keepMedia) return { kept: [], problems: ["this gateway cannot fetch files"] };
  try {
    return await keepMedia({ channel, accountId, media: event.media ?? [] }, signal);
  } catch (error) {
    log.warn(`files of a message could not be fetched: ${messageOf(error)}`, { channel, accountId });
    return { kept: [], problems: ["the files of this message could not be fetched"] };
  }
}

async function fetchFiles(deps: ConversationDeps, item: Item): Promise<ItemFiles> {
  const kept: KeptMedia[] = [];
  const lines: string[] = [];
  const transcripts: string[] = [];
  for (const message of item.messages) {
    if (!message.event.media?.length) continue;
    const found = await keptOf(deps, message, item.abort.signal);
    kept.push(...found.kept);
    // A transcript that a previous process made is the item's text.
    const recordings = item.isSpoken || !deps.transcribe ? [] : chosen(found.kept, deps);
    for (const file of found.kept) {
      lines.push(mediaLine(file));
      if (!recordings.includes(file)) continue;
      const heard = await transcribed(deps, item, file, { channel: message.channel, accountId: message.accountId });
      lines.push(...heard.lines);
      transcripts.push(...heard.transcripts);
    }
    lines.push(...found.problems.map((problem) => `[media: ${problem}]`));
  }
  return { kept, lines, transcripts };
}

/** Fetches the files of an item, once. One that cannot be fetched does not keep the message from being answered: the model gets a note. */
export function filesOf(deps: ConversationDeps, item: Item): Promise<ItemFiles> {
  item.files ??= fetchFiles(deps, item);
  return item.files;
}

/** Someone else may have spoken it. */
const isForwarded = ({ messages }: Item): boolean => messages.some(({ event, context }) => (event.context ?? context)?.["ForwardedFrom"] !== undefined);

const ECHO = '📝 "{transcript}"';

/** Sends the sender the words that were recognised, where that is wanted. */
function echo({ config, delivery, log }: ConversationDeps, { last, isResumed, request }: Item, text: string): void {
  const { echoTranscript, echoFormat = ECHO } = config.current.tools?.media?.audio ?? {};
  if (echoTranscript !== true || request || isResumed) return;
  const facts = { kind: "command", messageId: last.event.id, senderId: last.event.sender.id } as const;
  delivery
    .send(last.address, [{ text: echoFormat.replaceAll("{transcript}", () => text) }], facts, 0)
    .catch((error: unknown) => log.warn(`a transcript could not be sent back: ${messageOf(error)}`));
}

/** Recordings that were let in for the case that they name us, and do not. */
export function isUnnamed({ messages, text, agentId, isSpoken }: Item, config: OpenClawConfig): boolean {
  if (!messages.every(({ access }) => access.unlessUnnamed === true)) return false;
  return isSpoken !== true || !matchesMentionPatterns(text, buildMentionRegexes(config, agentId));
}

/** A recording without words beside it: its transcript becomes the text of the item. Undefined: the item is not spoken. */
export async function hear(deps: ConversationDeps, item: Item, tookLong: () => void): Promise<string | undefined> {
  if (!deps.transcribe || item.isSpoken || !hasRecording(item)) return undefined;
  tookLong();
  const { transcripts } = await filesOf(deps, item);
  if (transcripts.length === 0) return undefined;
  const spoken = transcripts.join("\n\n");
  const isWritten = item.text.trim() !== "";
  if (!isWritten) Object.assign(item, { isSpoken: true, text: spoken });
  if (!isUnnamed(item, deps.config.current)) echo(deps, item, spoken);
  return isWritten ? undefined : spoken;
}

/** Whether what was spoken is looked at as a command. */
export const mayBeSpokenCommand = (item: Item, spoken: string): boolean => mayHoldCommand(spoken) && !isForwarded(item);

/** The context of a message whose text was spoken. */
export const spokenContext = (ctx: FinalizedMsgContext, spoken: string): FinalizedMsgContext => ({
  ...ctx,
  Body: spokenBody("", [spoken]),
  RawBody: spoken,
  CommandBody: spoken,
  BodyForCommands: spoken,
  BodyForAgent: spoken,
  Transcript: spoken,
});

/** Recordings as the model reads them, with what was written beside them. */
export function spokenBody(text: string, transcripts: readonly string[]): string {
  const one = transcripts.length === 1;
  const written = text === "" ? [] : [`User text:\n${text}`];
  const parts = transcripts.map((transcript, at) =>
    [`[Audio${one ? "" : ` ${at + 1}/${transcripts.length}`}]`, ...(one ? written : []), `Transcript:\n${transcript}`].join("\n"),
  );
  return [...(one ? [] : written), ...parts].join("\n\n");
}
