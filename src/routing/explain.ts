import { tierOf, TIERS, type Agents, type Binding, type MatchedBy, type Tier } from "./bindings.ts";
import type { Chat, ChatPeer } from "./chat.ts";
import { linkedName, type SessionRules } from "./session-keys.ts";

/** The field of a binding that did not match, with the expected and the actual value. */
export interface Refusal {
  readonly field: "agentId" | "channel" | "accountId" | "peer" | "guildId" | "teamId" | "roles";
  readonly expected: string;
  readonly found: string;
}

interface AboutBinding {
  readonly index: number;
  readonly path: string;
  readonly agentId: string;
  readonly tier: Tier;
}

/** The outcome for one binding. */
export type BindingOutcome =
  | (AboutBinding & { readonly state: "chosen" })
  /** It matches as well, but another is more specific or comes first. */
  | (AboutBinding & { readonly state: "beaten"; readonly by: string; readonly why: string })
  | (AboutBinding & { readonly state: "refused" } & Refusal);

/** The explanation of a decision. */
export interface Explanation {
  /** Every binding, in the order of the file. */
  readonly bindings: readonly BindingOutcome[];
  /** Why this session was chosen. */
  readonly session: string;
}

const NOTHING = "(none)";
const shownPeer = ({ kind, id }: ChatPeer): string => `${kind}:${id}`;
const isSame = (a: ChatPeer, b: ChatPeer | undefined): boolean => b !== undefined && a.kind === b.kind && a.id === b.id;

/** What is wrong with a binding in itself: it can never match. */
export function findFault({ agentId, peer }: Binding, { ids }: Agents): Refusal | undefined {
  if (!ids.has(agentId)) return { field: "agentId", expected: [...ids].join(", "), found: agentId };
  return peer?.id === "" ? { field: "peer", expected: "the id of a chat", found: NOTHING } : undefined;
}

/** The first field of a binding that a chat does not match. Written without the index; a test compares the two. */
function mismatch(binding: Binding, chat: Chat): Refusal | undefined {
  const { channel, accountId, peer, guildId, teamId, roles } = binding;
  if (channel !== chat.channel) return { field: "channel", expected: channel, found: chat.channel };
  if (accountId !== undefined && accountId !== chat.accountId) return { field: "accountId", expected: accountId, found: chat.accountId };
  if (peer && !isSame(peer, chat.peer) && !isSame(peer, chat.parent)) {
    const found = [chat.peer, chat.parent].filter((one) => one !== undefined).map(shownPeer);
    return { field: "peer", expected: shownPeer(peer), found: found.join(" in ") || NOTHING };
  }
  if (guildId !== undefined && guildId !== chat.guildId) return { field: "guildId", expected: guildId, found: chat.guildId ?? NOTHING };
  if (teamId !== undefined && teamId !== chat.teamId) return { field: "teamId", expected: teamId, found: chat.teamId ?? NOTHING };
  if (roles && !roles.some((role) => chat.roles.includes(role))) {
    return { field: "roles", expected: roles.join(" or "), found: chat.roles.join(", ") || NOTHING };
  }
  return undefined;
}

/** The tier in which a binding counts for a chat. */
function tierFor(binding: Binding, chat: Chat): Tier {
  return binding.peer && !isSame(binding.peer, chat.peer) && isSame(binding.peer, chat.parent) ? "binding.peer.parent" : tierOf(binding);
}

interface Decision {
  readonly matchedBy: MatchedBy;
  readonly binding?: { readonly index: number; readonly path: string };
}

function explainBinding(binding: Binding, chat: Chat, decision: Decision, agents: Agents): BindingOutcome {
  const { index, agentId } = binding;
  const tier = tierFor(binding, chat);
  const about = { index, path: `bindings[${index}]`, agentId, tier };
  const fault = findFault(binding, agents) ?? mismatch(binding, chat);
  if (fault) return { ...about, state: "refused", ...fault };
  if (decision.binding?.index === index) return { ...about, state: "chosen" };
  const isLower = TIERS.indexOf(tier) > TIERS.findIndex((one) => one === decision.matchedBy);
  return { ...about, state: "beaten", by: decision.binding?.path ?? "", why: isLower ? "is more specific" : "comes before it" };
}

function sessionReason(chat: Chat, rules: SessionRules): string {
  const { peer, parent, thread } = chat;
  if (!peer) return "no chat given: the agent's main session";
  const inThread = thread !== undefined || peer.around !== undefined || (peer.kind !== "direct" && parent !== undefined);
  if (peer.kind !== "direct") return inThread ? `each thread of a ${peer.kind} has its own session` : `each ${peer.kind} has its own session`;
  const name = linkedName(chat, rules);
  const shared = rules.dmScope === "main" ? ": direct chats share the agent's main session" : "";
  const linked = name === undefined ? "" : `, and session.identityLinks maps this sender to ${name}`;
  return `session.dmScope is ${rules.dmScope}${shared}${linked}${inThread ? "; each thread has its own" : ""}`;
}

/** Explains a decision: the outcome for every binding, and why this session was chosen. */
export function explain(
  chat: Chat,
  decision: Decision,
  { bindings, agents, sessions }: { readonly bindings: readonly Binding[]; readonly agents: Agents; readonly sessions: SessionRules },
): Explanation {
  return { bindings: bindings.map((binding) => explainBinding(binding, chat, decision, agents)), session: sessionReason(chat, sessions) };
}
