/** Links in messages, read by the programs of `tools.links`. */
import { messageOf } from "../base/errors.ts";
import { guardedFetch } from "../base/guarded-fetch.ts";
import { clip } from "../base/text.ts";
import type { OpenClawConfig } from "../config/index.ts";
import { decideByRules } from "../sessions/index.ts";
import { askProgram } from "./ask-program.ts";
import type { UnderstandingDeps } from "./deps.ts";
import type { Decision, UnderstandingRequest } from "./types.ts";

type LinkReader = NonNullable<NonNullable<NonNullable<OpenClawConfig["tools"]>["links"]>["models"]>[number];

const MAX_LINKS = 3;
const TIMEOUT_SECONDS = 30;
const MAX_CHARS = 10_000;
const MAX_URL = 2000;

/** Addresses in a text, each once. A closing bracket or full stop after one is not part of it. */
export function linksIn(text: string, most: number): readonly string[] {
  const found = new Set<string>();
  for (const [match] of text.matchAll(/https?:\/\/[^\s<>"'`\\^{|}\p{Cc}]+/giu)) {
    const trimmed = match.replace(/[.,;:!?)\]*_]+$/, "");
    if (trimmed.length > MAX_URL || !URL.canParse(trimmed)) continue;
    found.add(new URL(trimmed).href);
    if (found.size >= most) break;
  }
  return [...found];
}

/** Where a link leads, after redirects that were all checked: a program gets no address that may not be reached from here. */
async function checkedTarget({ clock, network }: UnderstandingDeps, url: string, timeoutMs: number, signal: AbortSignal): Promise<string> {
  using answer = await guardedFetch({ url, timeoutMs, signal, clock, policy: network?.policy, lookup: network?.lookup });
  return answer.url;
}

async function readLink(deps: UnderstandingDeps, readers: readonly LinkReader[], url: string, request: UnderstandingRequest, signal: AbortSignal) {
  const usual = deps.config.current.tools?.links?.timeoutSeconds ?? TIMEOUT_SECONDS;
  const target = await checkedTarget(deps, url, usual * 1000, signal);
  const failures: string[] = [];
  for (const { type = "cli", command, args = ["{{LinkUrl}}"], timeoutSeconds = usual } of readers) {
    if (type !== "cli") continue;
    try {
      const text = await askProgram(deps, { command, args, values: () => ({ LinkUrl: target }), request, timeoutMs: timeoutSeconds * 1000, signal });
      return { text: clip(text, MAX_CHARS), by: command };
    } catch (error) {
      signal.throwIfAborted();
      failures.push(messageOf(error));
    }
  }
  throw new Error(failures.join("; "));
}

/** What the links of a message lead to, as blocks for the prompt. One that cannot be read has none: its address stands in the message. */
export async function understandLinks(
  deps: UnderstandingDeps,
  request: UnderstandingRequest,
  signal: AbortSignal,
): Promise<{ readonly blocks: readonly string[]; readonly decisions: readonly Decision[] }> {
  const { enabled, scope, maxLinks = MAX_LINKS, models: readers = [] } = deps.config.current.tools?.links ?? {};
  if (enabled === false || readers.length === 0) return { blocks: [], decisions: [] };
  const links = linksIn(request.text, maxLinks);
  if (links.length === 0) return { blocks: [], decisions: [] };
  if (!decideByRules(scope, request.sessionKey, request.entry, request.channel).allowed) {
    return { blocks: [], decisions: [{ capability: "link", outcome: "skipped", reason: "tools.links.scope" }] };
  }
  const blocks: string[] = [];
  const decisions: Decision[] = [];
  for (const url of links) {
    try {
      const { text, by } = await readLink(deps, readers, url, request, signal);
      blocks.push(`[Link] ${url}\n${deps.mark(text, { source: "link", notice: true })}`);
      decisions.push({ capability: "link", outcome: "ok", by });
    } catch (error) {
      signal.throwIfAborted();
      deps.log.warn(`a link could not be read: ${messageOf(error)}`, { sessionKey: request.sessionKey });
      decisions.push({ capability: "link", outcome: "failed", reason: messageOf(error) });
    }
  }
  return { blocks, decisions };
}
