import { directList, decideDirect } from "./direct.ts";
import { factsOf, startsTurn, type Facts } from "./facts.ts";
import { groupEntryOf, type GroupEntry } from "./group-entry.ts";
import { decideGroup } from "./group.ts";
import { isCommand, isForAnyone, decideMention } from "./mention.ts";
import { firstOf, own } from "./section.ts";
import type { AccessRequest, AccessRefused, AccessDecision, Step } from "./decision.ts";
import { sectionOf } from "../sections.ts";
import { NOBODY, admits, names, readEntries, type AllowEntries } from "./allow-entries.ts";
import { forChannel, ownersOf } from "./owners.ts";

/** Who may give commands, and who is an owner. */

interface CommandDecision {
  readonly authorized: boolean;
  readonly owner: boolean;
  readonly owners: readonly string[];
}

/** The only list that applies, if set: the channel's, else the general one. */
function soleList(facts: Facts): AllowEntries | undefined {
  const lists = sectionOf(own(sectionOf(facts.cfg?.commands), "allowFrom"));
  if (!lists || Object.keys(lists).length === 0) return undefined;
  const named = own(lists, facts.channel);
  return readEntries(Array.isArray(named) ? named : forChannel(own(lists, "*"), facts), facts);
}

/** `list`: who may write in the chat. */
function decideCommands(facts: Facts, list: AllowEntries): CommandDecision {
  const { ids, cfg, isDirect, approved } = facts;
  const owners = ownersOf(facts);
  const owner = names(owners.list.ids, ids);
  const decided = { owner, owners: [...owners.list.ids] };
  const sole = soleList(facts);
  if (sole) return { authorized: admits(sole, ids), ...decided };
  const ownerRule = !owners.enforced || owners.open || owner;
  const usesGroups = own(sectionOf(cfg?.commands), "useAccessGroups") !== false;
  // In a group, senders listed for direct messages count, too; an open direct policy says nothing about groups.
  const direct = isDirect ? NOBODY : readEntries(directList(facts)?.value, facts);
  const admitted = admits(list, ids) || names(direct.ids, ids) || (isDirect && names(approved, ids));
  return { authorized: ownerRule && (admitted || !usesGroups), ...decided };
}

const isFalse = (value: unknown): value is false => value === false;
const isFlag = (value: unknown): value is boolean => typeof value === "boolean";

function refused({ reason, why, path }: Step, pairing = false): AccessRefused {
  return { allow: false, reason, why, ...(path === undefined ? {} : { path }), pairing };
}

/** Refusals that apply to everyone, whatever the lists say. */
function refuseAll(facts: Facts, group: GroupEntry | undefined): Step | undefined {
  const off = firstOf(facts.layers, ["enabled"], isFalse);
  if (off) return { allow: false, reason: "channel-disabled", why: `${off.path} is false`, path: off.path };
  if (facts.question.event?.sender?.isBot !== true) return undefined;
  const bots = firstOf([...(group?.sections ?? []), ...facts.layers], ["allowBots"], isFlag);
  if (bots?.value === true) return undefined;
  const path = bots?.path ?? `channels.${facts.channel}.allowBots`;
  return { allow: false, reason: "bot-sender", why: `${facts.who} is a bot, and ${path} is not true`, path };
}

function decideDirectAccess(facts: Facts): AccessDecision {
  const { pairing, list, ...step } = decideDirect(facts);
  if (!step.allow) return refused(step, pairing);
  const { authorized, owner, owners } = decideCommands(facts, list);
  const decided = { owner, commandAuthorized: authorized, wasMentioned: false, requireMention: false, ownerAllowFrom: owners };
  const quiet = !startsTurn(facts.kind);
  return { ...step, allow: true, trigger: !quiet, ...decided, ...(quiet ? { reason: "no-turn" as const } : {}) };
}

function decideGroupAccess(facts: Facts, group: GroupEntry): AccessDecision {
  const { list, ...step } = decideGroup(facts, group);
  if (!step.allow) return refused(step);
  const { authorized, owner, owners } = decideCommands(facts, list);
  if (!authorized && isCommand(facts) && !isForAnyone(facts)) {
    return refused({ allow: false, reason: "command-unauthorised", why: `${facts.who} may not give commands here; nobody is notified`, path: "commands" });
  }
  const mention = decideMention(facts, group, authorized);
  const { wasMentioned, requireMention } = mention;
  const decided = { owner, commandAuthorized: authorized, wasMentioned, requireMention, ownerAllowFrom: owners };
  if (!startsTurn(facts.kind)) return { ...step, allow: true, trigger: false, ...decided, reason: "no-turn" };
  if (mention.trigger) return { ...step, allow: true, trigger: true, ...decided };
  const why = `${step.why}, but nobody spoke to us, and ${mention.path} asks for it`;
  return { allow: true, trigger: false, ...decided, reason: "not-mentioned", why, path: mention.path };
}

/**
 * Decides whether an event of a chat may reach an agent: a message, an edit, a reaction, a button, a new member. Pure, never
 * throws, and identifies senders by their ids only. The order: channel, group policy, group map, sender, command, mention.
 */
export function decideAccess(question: AccessRequest): AccessDecision {
  const facts = factsOf(question);
  const group = facts.isDirect ? undefined : groupEntryOf(facts);
  const off = refuseAll(facts, group);
  if (off) return refused(off);
  return group ? decideGroupAccess(facts, group) : decideDirectAccess(facts);
}
