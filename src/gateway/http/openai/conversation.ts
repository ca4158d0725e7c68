/** One message of a conversation that a caller sends along. */
export interface Turn {
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
}

/** What a run needs of such a conversation. */
export interface Conversation {
  readonly message: string;
  readonly systemPrompt?: string;
}

const SPEAKER: Readonly<Record<Turn["role"], string>> = { user: "User", assistant: "Assistant", tool: "Tool result" };

const spoken = ({ role, text }: Turn): string => `${SPEAKER[role]}: ${text}`;

/** The last message of a user or tool is the one to answer; what came before it is told as text. Undefined when there is none. */
export function composeConversation(turns: readonly Turn[], system: readonly string[]): Conversation | undefined {
  const said = turns.filter((turn) => turn.text.trim() !== "");
  const at = said.findLastIndex((turn) => turn.role !== "assistant");
  const current = said[at];
  if (current === undefined) return undefined;
  const history = said.slice(0, at);
  const systemPrompt = system.filter((text) => text.trim() !== "").join("\n\n");
  const message =
    history.length === 0 ? current.text : `[Earlier in this conversation]\n${history.map(spoken).join("\n")}\n\n[The message to answer]\n${spoken(current)}`;
  return { message, ...(systemPrompt === "" ? {} : { systemPrompt }) };
}
