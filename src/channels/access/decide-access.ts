import type { ChannelInboundChat, ChannelInboundKind } from "../../protocol/index.ts";
import { sectionOf } from "../settings.ts";
import type { AccessDecision, AccessRefused, AccessRequest, Facts, Step } from "./decision.ts";
import { decideGroup, groupEntryOf, type GroupEntry } from "./group.ts";
import { decideMention, isCommand, isForAnyone } from "./mention.ts";
import { forChannel, ownersOf } from "./owners.ts";
import { admits, directList, dmPolicyOf, firstOf, idsOf, isFalse, isFlag, layersOf, names, own, readEntries, type AllowEntries } from "./settings.ts";

/** Who may give commands, and who is an owner. */
interface CommandDecision {
  readonly authorized: boolean;
  readonly owner: boolean;
  readonly owners: readonly string[];
}

/** `list`: who may write in the chat. */
function decideCommands(facts: Facts, list: AllowEntries): CommandDecision {
  const { ids, cfg, isDirect, approved } = facts;
  const direct = isDirect ? list : readEntries(directList(facts)?.value, facts);
  const owners = ownersOf(facts, direct, facts.question.event?.context?.OwnerAllowFrom);
  const owner = names(owners.list.ids, ids);
  const commands = sectionOf(cfg?.commands);
  const decided = { owner, owners: [...owners.list.ids] };
  // The only list that applies, if set: the channel's, else the general one.
  const lists = sectionOf(own(commands, "allowFrom"));
  if (lists && Object.keys(lists).length > 0) {
    const named = own(lists, facts.channel);
    const sole = readEntries(Array.isArray(named) ? named : forChannel(own(lists, "*"), facts), facts);
    return { authorized: admits(sole, ids), ...decided };
  }
  const ownerRule = !owners.enforced || owners.open || owner;
  const usesGroups = own(commands, "useAccessGroups") !== false;
  // Owners give commands wherever they may write. In a group, senders listed for direct messages count, too; an open direct policy says nothing about groups.
  const admitted = owner || admits(list, ids) || names(direct.ids, ids) || (isDirect && names(approved, ids));
  return { authorized: ownerRule && (admitted || !usesGroups), ...decided };
}

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

interface DirectDecision extends Step {
  readonly pairing: boolean;
  /** The configured list, for commands and owners. */
  readonly list: AllowEntries;
}

function decideDirect(facts: Facts): DirectDecision {
  const { layers, channel, ids, approved, who } = facts;
  const found = directList(facts);
  const list = readEntries(found?.value, facts);
  const policy = dmPolicyOf(layers, channel);
  const listPath = found?.path ?? `channels.${channel}.allowFrom`;
  const off = firstOf(layers, ["dm.enabled"], isFalse);
  const says = `${policy.path} is "${policy.value}"`;
  const answer = (step: Step, pairing = false): DirectDecision => ({ ...step, pairing, list });
  if (policy.value === "disabled" || off) {
    const path = off?.path ?? policy.path;
    return answer({ allow: false, reason: "dm-disabled", why: `direct messages are disabled: ${off ? `${path} is false` : says}`, path });
  }
  if (policy.value === "open" && list.everybody) {
    return answer({ allow: true, reason: "dm-open", why: `${says} and ${listPath} contains "*": everyone may write`, path: policy.path });
  }
  if (admits(list, ids)) {
    const why = list.everybody ? `${listPath} contains "*": everyone may write` : `${listPath} includes ${who}`;
    return answer({ allow: true, reason: "dm-allowlist", why, path: listPath });
  }
  if (names(approved, ids)) return answer({ allow: true, reason: "dm-pairing", why: `${who} was approved by pairing for this account`, path: policy.path });
  if (policy.value === "pairing") {
    return answer({ allow: false, reason: "dm-pairing", why: `${says}, and ${who} has not been approved`, path: policy.path }, facts.canAsk);
  }
  const isOpen = policy.value === "open";
  const why = isOpen
    ? `${says}, but ${listPath} does not contain "*", so only listed senders may write, and ${who} is not listed`
    : `${listPath} does not include ${who}`;
  return answer({ allow: false, reason: "dm-allowlist", why, path: isOpen ? policy.path : listPath });
}

function decideDirectAccess(facts: Facts): AccessDecision {
  const { pairing, list, ...step } = decideDirect(facts);
  if (!step.allow) return refused(step, pairing);
  const { authorized, owner, owners } = decideCommands(facts, list);
  const decided = { owner, commandAuthorized: authorized, wasMentioned: false, requireMention: false, ownerAllowFrom: owners };
  return { ...step, allow: true, trigger: facts.startsTurn, ...decided, ...(facts.startsTurn ? {} : { reason: "no-turn" }) };
}

function decideGroupAccess(facts: Facts, group: GroupEntry): AccessDecision {
  const { list, ...step } = decideGroup(facts, group);
  if (!step.allow) return refused(step);
  const { authorized, owner, owners } = decideCommands(facts, list);
  if (!authorized && isCommand(facts) && !isForAnyone(facts)) {
    return refused({
      allow: false,
      reason: "command-unauthorised",
      why: `${facts.who} is not allowed to use commands here; no reply is sent`,
      path: "commands",
    });
  }
  const mention = decideMention(facts, group, authorized);
  const { wasMentioned, requireMention } = mention;
  const decided = { owner, commandAuthorized: authorized, wasMentioned, requireMention, ownerAllowFrom: owners };
  if (!facts.startsTurn) return { ...step, allow: true, trigger: false, ...decided, reason: "no-turn" };
  if (mention.trigger) return { ...step, allow: true, trigger: true, ...decided };
  const why = `${step.why}, but the agent was not mentioned and ${mention.path} requires it`;
  return { allow: true, trigger: false, ...decided, reason: "not-mentioned", why, path: mention.path };
}

const MAX_SHOWN = 80;
const TURN_KINDS: ReadonlySet<string> = new Set(["message", "command", "button"] satisfies ChannelInboundKind[]);

function factsOf(question: AccessRequest): Facts {
  const { cfg, plugin, dock, channel, accountId, event, approved } = question;
  const kind = event?.kind;
  const chat: Partial<ChannelInboundChat> = event?.chat ?? {};
  const ids = idsOf(event?.sender);
  return {
    question,
    cfg,
    plugin,
    dock,
    channel,
    accountId,
    approved,
    layers: layersOf(cfg, channel, accountId),
    kind,
    isDirect: chat.type === "direct",
    chat,
    text: typeof event?.text === "string" ? event.text : "",
    ids,
    // Ids are foreign text: bounded, on one line, quoted.
    who:
      ids[0] === undefined ? "a sender without an id" : `the sender ${JSON.stringify(ids[0].length > MAX_SHOWN ? `${ids[0].slice(0, MAX_SHOWN)}…` : ids[0])}`,
    startsTurn: TURN_KINDS.has(kind),
    canAsk: (kind === "message" || kind === "command") && typeof event.sender?.id === "string" && idsOf({ id: event.sender.id }).length > 0,
  };
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
