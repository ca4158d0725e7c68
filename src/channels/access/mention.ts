/** Whether an event in a group is addressed to the agent. */
import { hasControlCommand, isStopMessage, readCommand, shouldHandleTextCommands, type CommandTextOptions } from "../inbound/commands.ts";
import { buildMentionRegexes, matchesMentionWithExplicit } from "../inbound/mentions.ts";
import type { Facts } from "./decision.ts";
import type { GroupEntry } from "./group.ts";
import { firstOf, isFlag } from "./settings.ts";

export interface MentionDecision {
  readonly trigger: boolean;
  readonly wasMentioned: boolean;
  readonly requireMention: boolean;
  readonly path: string;
}

function fromPlugin({ plugin, dock, cfg, accountId, chat, question }: Facts): boolean | undefined {
  const { sender } = question.event ?? {};
  try {
    const declared: unknown = (plugin?.groups ?? dock?.groups)?.resolveRequireMention?.({
      cfg,
      accountId,
      groupId: chat.id,
      groupChannel: chat.channelName,
      groupSpace: chat.space,
      senderId: sender?.id,
    });
    return isFlag(declared) ? declared : undefined;
  } catch {
    return undefined;
  }
}

/**
 * In this order: the session's activation, the topic's setting, the channel's plugin, the group's, that of `*`, its server's, the account's, true.
 */
function required(facts: Facts, group: GroupEntry): { readonly value: boolean; readonly path: string } {
  const { activation } = facts.question;
  if (activation !== undefined) return { value: activation !== "always", path: "/activation" };
  const topic = group.topic && firstOf([group.topic], ["requireMention"], isFlag);
  if (topic) return topic;
  const path = `${group.path}.requireMention`;
  const declared = fromPlugin(facts);
  if (declared !== undefined) return { value: declared, path };
  return firstOf([...group.inherited, ...facts.layers], ["requireMention"], isFlag) ?? { value: true, path };
}

function optionsOf({ question }: Facts): CommandTextOptions {
  const { botUsername } = question.event?.mention ?? {};
  return typeof botUsername === "string" ? { botUsername } : {};
}

/** Whether the text is a command that is read here; one from a menu always is, what a button says never. */
export function isCommand(facts: Facts): boolean {
  const { kind, text, cfg, channel } = facts;
  if (kind === "command") return true;
  if (kind !== "message") return false;
  return shouldHandleTextCommands({ cfg, surface: channel }) && hasControlCommand(text, cfg, optionsOf(facts));
}

/** A command that stops or narrows something: every allowed sender may give it. */
export const isForAnyone = (facts: Facts): boolean => readCommand(facts.text, optionsOf(facts))?.facts.anyone === true;

const isStopCommand = (facts: Facts): boolean => facts.text.trimStart().startsWith("/") && isStopMessage(facts.text, optionsOf(facts));

export function decideMention(facts: Facts, group: GroupEntry, commandAuthorized: boolean): MentionDecision {
  const { kind, text, question } = facts;
  const mention = question.event?.mention ?? {};
  const { value: requireMention, path } = required(facts, group);
  const others = mention.others === true;
  const named = matchesMentionWithExplicit({
    text,
    mentionRegexes: question.mentionPatterns ?? buildMentionRegexes(facts.cfg, question.agentId),
    explicit: { hasAnyMention: mention.mentioned === true || others, isExplicitlyMentioned: mention.mentioned === true, canResolveExplicit: true },
  });
  // Pressing our button or picking from our menu addresses us.
  const chosen = kind === "button" || kind === "command";
  // Every allowed sender may stop a run; a bare word such as "stop" may be meant for people.
  const bypass = requireMention && !others && (commandAuthorized || isStopCommand(facts)) && isCommand(facts);
  const wasMentioned = named || chosen || mention.implicit === true || bypass;
  return { trigger: wasMentioned || !requireMention || mention.canDetect === false, wasMentioned, requireMention, path };
}
