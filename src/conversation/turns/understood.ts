/** Files and links of a turn, for a model that may not be able to see them. */
import { messageOf } from "../../base/errors.ts";
import type { ImageContent, SessionEntry } from "../../protocol/index.ts";
import type { ReceivedFile } from "../../understanding/index.ts";
import { messageContext } from "../intake/message-context.ts";
import type { Turn } from "../items.ts";
import type { ConversationDeps } from "../ports.ts";

export interface KnownFiles {
  /** Blocks for the prompt. */
  readonly lines: readonly string[];
  /** Those that the model is to see. */
  readonly images: readonly ImageContent[];
}

/** Fields of the message that programs may be given. */
function fieldsOf({ main }: Turn): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(messageContext(main.last)).filter((field): field is [string, string] => typeof field[1] === "string"));
}

const NOTHING: KnownFiles = { lines: [], images: [] };

/** Rejects never: what cannot be understood is shown as it came. */
export async function knownFiles(
  { understand, log }: ConversationDeps,
  turn: Turn,
  entry: SessionEntry | undefined,
  files: readonly ReceivedFile[],
): Promise<KnownFiles> {
  const { main, items } = turn;
  const text = items.length === 1 ? main.text : items.map((item) => item.text).join("\n");
  // Most messages have neither.
  if (files.length === 0 && !text.includes("://")) return NOTHING;
  const shown = files.flatMap(({ image }) => (image ? [image] : []));
  if (!understand) return { lines: [], images: shown };
  try {
    const known = await understand(
      {
        runId: main.id,
        agentId: main.agentId,
        sessionKey: main.sessionKey,
        channel: main.last.channel,
        entry,
        model: items.findLast((item) => item.hints?.model !== undefined)?.hints?.model ?? main.request?.model,
        text,
        fields: fieldsOf(turn),
        files,
      },
      main.abort.signal,
    );
    const images = files.flatMap(({ image }, at) => (image && known.files[at]?.isDescribed !== true ? [image] : []));
    return {
      lines: [...known.files.flatMap(({ lines }) => lines), ...known.links],
      images: [...images, ...known.files.flatMap(({ pictures = [] }) => pictures)],
    };
  } catch (error) {
    if (!main.abort.aborted) log.warn(`files of a message could not be processed: ${messageOf(error)}`, { sessionKey: main.sessionKey });
    return { lines: [], images: shown };
  }
}
