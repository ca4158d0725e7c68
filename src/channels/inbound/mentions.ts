/** Whether a message mentions an agent. */
import type { AgentEntry, HostConfig } from "../../protocol/index.ts";
import { sectionOf } from "../settings.ts";

const INVISIBLE = /[\u200B-\u200F\u202A-\u202E\u2060-\u206F]/g;

/** Lower case, without invisible characters. */
export function normalizeMentionText(text: string): string {
  return text.replaceAll(INVISIBLE, "").toLowerCase();
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

const patternsOf = (section: unknown): unknown => sectionOf(sectionOf(section)?.["groupChat"])?.["mentionPatterns"];

function agentOf(cfg: HostConfig, agentId: string | undefined): AgentEntry | undefined {
  const list = cfg.agents?.list ?? [];
  const wanted = agentId?.trim().toLowerCase();
  return wanted ? list.find((entry) => entry.id.toLowerCase() === wanted) : (list.find((entry) => entry.default === true) ?? list[0]);
}

/** Patterns of the agent, else the general ones, else its name and emoji. Invalid regular expressions are left out. */
export function buildMentionRegexes(cfg: HostConfig | undefined, agentId?: string): RegExp[] {
  if (!cfg) return [];
  const agent = agentOf(cfg, agentId);
  const written = patternsOf(agent) ?? patternsOf(cfg.messages);
  const patterns = Array.isArray(written) ? written.filter((pattern) => typeof pattern === "string") : fromIdentity(agent);
  return patterns.flatMap((pattern) => {
    try {
      return [new RegExp(pattern, "iu")];
    } catch {
      return compileLoosely(pattern);
    }
  });
}

/** Older patterns escape characters that need no escape, which the strict syntax refuses. */
function compileLoosely(pattern: string): RegExp[] {
  try {
    return [new RegExp(pattern, "i")];
  } catch {
    return [];
  }
}

function fromIdentity(agent: AgentEntry | undefined): string[] {
  const name = agent?.identity?.name?.trim();
  const emoji = agent?.identity?.emoji?.trim();
  const words = name
    ?.split(/\s+/)
    .map(escaped)
    .join(String.raw`\s+`);
  const named = words ? [String.raw`(?<![\p{L}\p{N}_])@?${words}(?![\p{L}\p{N}_])`] : [];
  return [...named, ...(emoji ? [escaped(emoji)] : [])];
}

export function matchesMentionPatterns(text: string, regexes: readonly RegExp[]): boolean {
  if (regexes.length === 0) return false;
  const clean = normalizeMentionText(text);
  return clean !== "" && regexes.some((regex) => new RegExp(regex.source, regex.flags.replaceAll(/[gy]/g, "")).test(clean));
}

/**
 * A platform's own mentions come first: a mentioned user is addressed; one who is not while others are, is not. Otherwise the text
 * decides, for a voice message its transcript.
 */
export function matchesMentionWithExplicit(params: {
  readonly text: string;
  readonly mentionRegexes: readonly RegExp[];
  readonly explicit?: { readonly hasAnyMention: boolean; readonly isExplicitlyMentioned: boolean; readonly canResolveExplicit: boolean } | undefined;
  readonly transcript?: string | undefined;
}): boolean {
  const { explicit, mentionRegexes } = params;
  const words = params.text.trim() === "" ? (params.transcript ?? "") : params.text;
  if (explicit?.canResolveExplicit && explicit.hasAnyMention) return explicit.isExplicitlyMentioned || matchesMentionPatterns(words, mentionRegexes);
  return explicit?.isExplicitlyMentioned === true || matchesMentionPatterns(words, mentionRegexes);
}
