/** Whether something in a group is meant for us. */
import { hasControlCommand, isStopMessage, readCommand, shouldHandleTextCommands, type CommandTextOptions } from "../inbound/commands.ts";
import { buildMentionRegexes, matchesMentionWithExplicit } from "../inbound/mentions.ts";
import type { Facts } from "./facts.ts";
import type { GroupEntry } from "./group-entry.ts";
import { firstOf } from "./section.ts";

export interface MentionDecision {
  readonly trigger: boolean;
  readonly wasMentioned: boolean;
  readonly requireMention: boolean;
  readonly path: string;
}

const isFlag = (value: unknown): value is boolean => typeof value === "boolean";

function fromPlugin({ plugin, dock, cfg, accountId, chat, question }: Facts): boolean | undefined {
  const { sender } = question.event ?? {};
  try {
    const said: unknown = (plugin?.groups ?? dock?.groups)?.resolveRequireMention?.({
      cfg,
      accountId,
      groupId: chat.id,
      groupChannel: chat.channelName,
      groupSpace: chat.space,
      senderId: sender?.id,
    });
    return isFlag(said) ? said : undefined;
  } catch {
    return undefined;
  }
}

/** The session's activation, the topic's setting, what the channel's code says, the group's, that of `*`, its space's, the account's, true. */
function required(facts: Facts, group: GroupEntry): { readonly value: boolean; readonly path: string } {
  const { activation } = facts.question;
  if (activation !== undefined) return { value: activation !== "always", path: "/activation" };
  const topic = group.topic && firstOf([group.topic], ["requireMention"], isFlag);
  if (topic) return topic;
  const path = `${group.path}.requireMention`;
  const said = fromPlugin(facts);
  if (said !== undefined) return { value: said, path };
  return firstOf([...group.inherited, ...facts.layers], ["requireMention"], isFlag) ?? { value: true, path };
}

function optionsOf({ question }: Facts): CommandTextOptions {
  const { botUsername } = question.event?.mention ?? {};
  return typeof botUsername === "string" ? { botUsername } : {};
}

/** Whether the text is a command that is read here; what a menu sends always is. */
export function isCommand(facts: Facts): boolean {
  const { kind, text, cfg, channel } = facts;
  if (kind === "command") return true;
  if (kind !== "message" && kind !== "button") return false;
  return shouldHandleTextCommands({ cfg, surface: channel }) && hasControlCommand(text, cfg, optionsOf(facts));
}

/** A command that stops or narrows something: that is for everybody who may talk. */
export const isForAnyone = (facts: Facts): boolean => readCommand(facts.text, optionsOf(facts))?.facts.anyone === true;

const isStopCommand = (facts: Facts): boolean => facts.text.trimStart().startsWith("/") && isStopMessage(facts.text, optionsOf(facts));

export function judgeMention(facts: Facts, group: GroupEntry, commandAuthorized: boolean): MentionDecision {
  const { kind, text, question } = facts;
  const mention = question.event?.mention ?? {};
  const { value: requireMention, path } = required(facts, group);
  const others = mention.others === true;
  const named = matchesMentionWithExplicit({
    text,
    mentionRegexes: question.mentionPatterns ?? buildMentionRegexes(facts.cfg, question.agentId),
    explicit: { hasAnyMention: mention.mentioned === true || others, isExplicitlyMentioned: mention.mentioned === true, canResolveExplicit: true },
  });
  // Who presses our button or picks from our menu speaks to us.
  const chosen = kind === "button" || kind === "command";
  // Whoever may talk here may stop what runs; a bare word such as "stop" is said to people, too.
  const bypass = requireMention && !others && (commandAuthorized || isStopCommand(facts)) && isCommand(facts);
  const wasMentioned = named || chosen || mention.implicit === true || bypass;
  return { trigger: wasMentioned || !requireMention || mention.canDetect === false, wasMentioned, requireMention, path };
}
