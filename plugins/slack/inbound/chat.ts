/** In which conversation something happened, and what the configuration says about it. */
import { asChannelError, defined, entriesOf, type Fields, rulesOf, textOf } from "openclaw/plugin-sdk/channel-kit";
import { channelLayers, userEntry } from "../account.ts";
import type { ChannelInboundEvent } from "../types.ts";
import type { Conversation, Self, Workspace } from "../workspace.ts";

export interface ReadingFacts {
  readonly workspace: Workspace;
  readonly self: Self;
  /** It was read from the history, because nobody was there when it happened. */
  readonly isBacklog?: boolean | undefined;
}

/** Something that Slack would not send. */
export class MalformedEvent extends Error {
  override readonly name = "MalformedEvent";
}

export interface ChatRef {
  readonly chat: ChannelInboundEvent["chat"];
  readonly to: string;
  readonly context: { readonly From: string; readonly To: string };
  readonly rules: Pick<ChannelInboundEvent, "groupSystemPrompt" | "skillFilter">;
  readonly untrusted: string[] | undefined;
  readonly requireMention: boolean | undefined;
  /** Whether what this person wrote may be shown to an agent here. */
  mayRead(user: string | undefined, isBot: boolean): boolean;
}

const KINDS: Readonly<Record<string, Conversation["kind"]>> = { im: "direct", app_home: "direct", mpim: "group", channel: "channel", group: "channel" };

/** By what the event says, by the id, else by asking. */
async function conversationOf({ workspace }: ReadingFacts, id: string, hint: string | undefined): Promise<Conversation> {
  const kind = KINDS[hint ?? ""] ?? (id.startsWith("D") ? "direct" : undefined);
  if (kind === "direct") return { kind, name: undefined, topic: undefined, user: undefined };
  try {
    const found = await workspace.conversation(id);
    return { ...found, kind: kind ?? found.kind };
  } catch (error) {
    // Where the configuration names channels, an unknown name could turn away what is let in: Slack brings it again.
    const isNamed = Object.keys(workspace.account.channels).some((key) => key.startsWith("#"));
    if (isNamed && asChannelError(error)?.delivery.state !== "failed") throw error;
    return { kind: kind ?? "channel", name: undefined, topic: undefined, user: undefined };
  }
}

export async function chatRefOf(facts: ReadingFacts, id: string | undefined, user: string, hint?: string, thread?: string): Promise<ChatRef> {
  if (id === undefined || !/^[A-Z0-9]{2,}$/.test(id)) throw new MalformedEvent("it names no conversation");
  const { workspace, self } = facts;
  const { kind, name, topic } = await conversationOf(facts, id, hint);
  const isDirect = kind === "direct";
  if (isDirect) workspace.learnDirect(user, id);
  workspace.lastSender.set(`${id}/${thread ?? ""}`, user);
  const layers = isDirect ? [] : channelLayers(workspace.account.channels, id, name);
  const { systemPrompt, skills, requireMention } = rulesOf(layers);
  const listed = layers.map((layer) => entriesOf(layer["users"])).find((users) => users.length > 0);
  const allowsBots = layers.map((layer) => layer["allowBots"]).find((value) => value !== undefined) ?? workspace.account.config["allowBots"];
  const to = isDirect ? `user:${user}` : `channel:${id}`;
  return {
    chat: defined({
      type: kind,
      id,
      threadId: thread,
      title: isDirect ? undefined : name,
      channelName: kind === "channel" && name !== undefined ? `#${name}` : undefined,
      space: isDirect ? undefined : self.team,
      teamId: self.teamId || undefined,
    }),
    to,
    context: { From: isDirect ? `slack:${user}` : `slack:${kind}:${id}`, To: to },
    rules: defined({ groupSystemPrompt: systemPrompt, skillFilter: skills }),
    untrusted: topic === undefined ? undefined : [`Topic of the channel: ${topic}`],
    requireMention,
    mayRead(author, isBot) {
      if (author === undefined || author === self.userId) return author !== undefined;
      if (isBot && allowsBots !== true) return false;
      if (isDirect) return author === user;
      return listed === undefined || listed.some((entry) => entry === "*" || userEntry(entry) === author);
    },
  };
}

/** Messages and reactions of ours come back as events: they are known by our ids. */
export function isOurs(self: Self, source: Fields | undefined): boolean {
  const [user, botId] = [textOf(source?.["user"]), textOf(source?.["bot_id"])];
  return (user !== undefined && user === self.userId) || (botId !== undefined && botId === self.botId);
}

export async function senderOf({ workspace }: ReadingFacts, id: string, isBot = false): Promise<ChannelInboundEvent["sender"]> {
  return defined({ id, name: await workspace.userName(id), isBot: isBot ? true : undefined });
}

export const timeOf = (ts: string): number | undefined => {
  const at = Math.round(Number(ts) * 1000);
  return Number.isFinite(at) ? at : undefined;
};
