import type { MethodResult } from "openclaw/client";
import { capital } from "../../base/capital.ts";
import type { Link } from "../../link/link.ts";
import type { Looks } from "../../parts/avatar-facts.ts";
import { chatTitle, type ChatView } from "./chat-view.ts";
import type { HeaderFacts } from "./header.ts";
import { agentOf, whereOf, type SessionRow } from "./sidebar-groups.ts";
import type { SessionsState } from "./sidebar-sessions.ts";
import { t } from "../../words/words.ts";

/** What the page around a conversation shows of it. */
export interface ChatFacts extends HeaderFacts {
  /** `provider/model` */
  readonly model: string;
  /** Tokens of the context window. */
  readonly total: number | undefined;
}

export interface KnownOfChat {
  readonly link: Pick<Link, "may" | "has">;
  readonly row: SessionRow | undefined;
  readonly view: ChatView;
  readonly agents: MethodResult<"agents.list">["agents"];
  readonly mainKey: string;
  readonly defaultAgentId: string;
  readonly sessions: SessionsState;
}

function looksOf(agentId: string, agents: KnownOfChat["agents"]): Looks {
  const agent = agents.find(({ id }) => id.toLowerCase() === agentId);
  const { name, emoji, avatar } = agent?.identity ?? {};
  return { id: agentId, name: name ?? agent?.name ?? agentId, emoji, avatar };
}

export function chatFacts({ link, row, view, agents, mainKey, defaultAgentId, sessions }: KnownOfChat): ChatFacts {
  const { defaults, answering } = sessions;
  const agent = looksOf(agentOf(view.sessionKey, defaultAgentId), agents);
  const [provider, model] = row?.model ? [row.modelProvider, row.model] : [defaults.modelProvider, defaults.model];
  const mayChange = link.may("operator.admin");
  const where = row && whereOf(row);
  return {
    key: view.sessionKey,
    title: chatTitle(row, view),
    agent,
    fact: where === undefined ? t`with ${agent.name}` : t`with ${agent.name} on ${capital(where)}`,
    row,
    model: model ? [provider, model].filter(Boolean).join("/") : (answering?.model ?? ""),
    total: row?.contextTokens ?? defaults.contextTokens ?? undefined,
    mayChange,
    mayDelete: mayChange && view.sessionKey !== mainKey,
    canExport: link.has("sessions.export"),
  };
}
