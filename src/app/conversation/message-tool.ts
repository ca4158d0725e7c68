import type { Config } from "../../config/index.ts";
import { loadDelivery, type CurrentChat } from "../../conversation/index.ts";
import type { Tool, ToolContext } from "../../tools/index.ts";
import type { ConversationRoom } from "./open.ts";

/** The tool with which an agent writes over channels. */
export async function messageToolFor({ config }: { readonly config: Config }, talk: ConversationRoom): Promise<Tool> {
  const { messageTool } = await loadDelivery();
  const current = ({ runId }: ToolContext): CurrentChat | undefined => {
    const chat = talk.conversation.chatOf(runId);
    if (!chat) return undefined;
    const { channel, accountId, to, threadId } = chat.address;
    return { channel, accountId, to, messageId: chat.messageId, ...(threadId === undefined ? {} : { threadId }) };
  };
  return messageTool({
    messages: await talk.messages(),
    config: () => config.current,
    current,
    mediaRoots: talk.mediaRoots,
    readable: ({ agentId }, path) => talk.mediaReadable(agentId, path),
  });
}
