import { directList, judgeDirect } from "./direct.ts";
import { factsOf, startsTurn, type Facts } from "./facts.ts";
import { groupEntryOf, type GroupEntry } from "./group-entry.ts";
import { judgeGroup } from "./group.ts";
import { isCommand, isForAnyone, judgeMention } from "./mention.ts";
import { firstOf, own } from "./section.ts";
import type { AccessQuestion, AccessRefused, AccessVerdict, Step } from "./verdict.ts";
import { sectionOf } from "../sections.ts";
import { NOBODY, admits, names, readEntries, type AllowEntries } from "./allow-entries.ts";
import { forChannel, ownersOf } from "./owners.ts";

/** Who may give commands, and who is an owner. */

interface CommandDecision {
  readonly authorized: boolean;
  readonly owner: boolean;
  readonly owners: readonly string[];
}

/** The only source there is, where it is set: the channel's list, else that for all. */
function soleList(facts: Facts): AllowEntries | undefined {
  const lists = sectionOf(own(sectionOf(facts.cfg?.commands), "allowFrom"));
  if (!lists || Object.keys(lists).length === 0) return undefined;
  const named = own(lists, facts.channel);
  return readEntries(Array.isArray(named) ? named : forChannel(own(lists, "*"), facts), facts);
}

/** `list`: who may write in the chat. */
function judgeCommands(facts: Facts, list: AllowEntries): CommandDecision {
  const { ids, cfg, isDirect, approved } = facts;
  const owners = ownersOf(facts);
  const owner = names(owners.list.ids, ids);
  const told = { owner, owners: [...owners.list.ids] };
  const sole = soleList(facts);
  if (sole) return { authorized: admits(sole, ids), ...told };
  const ownerRule = !owners.enforced || owners.open || owner;
  const usesGroups = own(sectionOf(cfg?.commands), "useAccessGroups") !== false;
  // In a group those named for direct messages count, too; that everybody may write alone says nothing about groups.
  const direct = isDirect ? NOBODY : readEntries(directList(facts)?.value, facts);
  const admitted = admits(list, ids) || names(direct.ids, ids) || (isDirect && names(approved, ids));
  return { authorized: ownerRule && (admitted || !usesGroups), ...told };
}

const isFalse = (value: unknown): value is false => value === false;
const isFlag = (value: unknown): value is boolean => typeof value === "boolean";

function refused({ reason, why, path }: Step, pairing = false): AccessRefused {
  return { allow: false, reason, why, ...(path === undefined ? {} : { path }), pairing };
}

/** What turns anybody away, whatever the lists say. */
function shut(facts: Facts, group: GroupEntry | undefined): Step | undefined {
  const off = firstOf(facts.layers, ["enabled"], isFalse);
  if (off) return { allow: false, reason: "channel-disabled", why: `${off.path} is false`, path: off.path };
  if (facts.question.event?.sender?.isBot !== true) return undefined;
  const bots = firstOf([...(group?.places ?? []), ...facts.layers], ["allowBots"], isFlag);
  if (bots?.value === true) return undefined;
  const path = bots?.path ?? `channels.${facts.channel}.allowBots`;
  return { allow: false, reason: "bot-sender", why: `${facts.who} is a bot, and ${path} is not true`, path };
}

function judgeAlone(facts: Facts): AccessVerdict {
  const { pairing, list, ...step } = judgeDirect(facts);
  if (!step.allow) return refused(step, pairing);
  const { authorized, owner, owners } = judgeCommands(facts, list);
  const told = { owner, commandAuthorized: authorized, wasMentioned: false, requireMention: false, ownerAllowFrom: owners };
  const quiet = !startsTurn(facts.kind);
  return { ...step, allow: true, trigger: !quiet, ...told, ...(quiet ? { reason: "no-turn" as const } : {}) };
}

function judgeAmongOthers(facts: Facts, group: GroupEntry): AccessVerdict {
  const { list, ...step } = judgeGroup(facts, group);
  if (!step.allow) return refused(step);
  const { authorized, owner, owners } = judgeCommands(facts, list);
  if (!authorized && isCommand(facts) && !isForAnyone(facts)) {
    return refused({ allow: false, reason: "command-unauthorised", why: `${facts.who} may not give commands here; nobody is told`, path: "commands" });
  }
  const mention = judgeMention(facts, group, authorized);
  const { wasMentioned, requireMention } = mention;
  const told = { owner, commandAuthorized: authorized, wasMentioned, requireMention, ownerAllowFrom: owners };
  if (!startsTurn(facts.kind)) return { ...step, allow: true, trigger: false, ...told, reason: "no-turn" };
  if (mention.trigger) return { ...step, allow: true, trigger: true, ...told };
  const why = `${step.why}, but nobody spoke to us, and ${mention.path} asks for it`;
  return { allow: true, trigger: false, ...told, reason: "not-mentioned", why, path: mention.path };
}

/**
 * Whether something that happened in a chat may reach an agent: a message, and just so an edit, a reaction, a button, a member that came. Pure, never
 * throws, and knows senders by their ids only. The order: channel, group policy, group map, sender, command, mention.
 */
export function judge(question: AccessQuestion): AccessVerdict {
  const facts = factsOf(question);
  const group = facts.isDirect ? undefined : groupEntryOf(facts);
  const off = shut(facts, group);
  if (off) return refused(off);
  return group ? judgeAmongOthers(facts, group) : judgeAlone(facts);
}
