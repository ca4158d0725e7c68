import { asked, decided, expired, listed, undecided } from "./approvals.ts";
import type { TuiEvent } from "./event.ts";
import { inputCame, looking } from "./keys.ts";
import { mergeCommands } from "./own-commands.ts";
import { withItems } from "./picker.ts";
import { agentCame, chatCame, doubted, historyCame } from "./runs.ts";
import { accepted, refused } from "./sending.ts";
import { agentOf, keyFor, noted, outdated, reading, refreshed } from "./session.ts";
import { and, only, type Context, type Effect, type Next, type State } from "./state.ts";

type Of<T extends TuiEvent["type"]> = Extract<TuiEvent, { type: T }>;

/** There is a connection. Everything is asked for again, and messages without an answer are sent again under their own keys. */
function connected(state: State, { hello, url }: Of<"connected">): Next {
  const { defaultAgentId = "main", mainKey, scope } = hello.snapshot.sessionDefaults ?? {};
  const naming = { defaultAgentId, ...(mainKey === undefined ? {} : { mainKey }), scope: scope === "global" ? ("global" as const) : ("per-sender" as const) };
  const first = state.connections === 0;
  const sessionKey = first ? (keyFor(state.sessionKey, naming, defaultAgentId) ?? `agent:${defaultAgentId}:main`) : state.sessionKey;
  const known: State = {
    ...doubted(state),
    url,
    naming,
    sessionKey,
    link: { kind: "open" },
    connections: state.connections + 1,
    methods: new Set(hello.features.methods),
    // Messages written before there was a connection do not have the full key of their session.
    sent: first ? state.sent.map((sent) => ({ ...sent, sessionKey })) : state.sent,
  };
  const { state: next, effects } = refreshed(known);
  const again = next.sent.flatMap((sent): readonly Effect[] =>
    sent.state !== "failed" && sent.ended === undefined ? [{ kind: "send", sent, preferences: next.preferences }] : [],
  );
  return and(next, ...again, ...effects, { kind: "agents" }, { kind: "approvals" }, { kind: "commands", agentId: agentOf(next) });
}

/** A late answer about a session that was left is not about this one. */
function factsCame(state: State, { sessionKey, facts, ts }: Of<"facts">, { now }: Context): State {
  return sessionKey === state.sessionKey ? { ...state, facts, skew: ts - now } : state;
}

/** A run that ended without events is known only from this response. */
function acceptedBy(state: State, { runId, ended }: Of<"accepted">): Next {
  const next = accepted(state, runId, ended);
  return ended ? reading(next) : only(next);
}

function shellEnded(state: State, { command, output, failure }: Of<"shell-ended">, { now }: Context): State {
  const text = [output.trimEnd(), failure ?? ""].filter(Boolean).join("\n");
  return noted({ ...state, shell: { ...state.shell, running: undefined } }, now, text, failure === undefined ? "plain" : "error", command);
}

const LIST_MS = 1000;

function ticked(state: State, context: Context): Next {
  const { now } = context;
  const known = expired(state, now);
  const next = known.armedAt !== undefined && now - known.armedAt > 2000 ? { ...known, armedAt: undefined } : known;
  const { picker } = next;
  // Times and costs of those that run go on.
  return picker?.items && !picker.asking && now - (picker.askedAt ?? 0) >= LIST_MS ? listChanged(next, "subagents", context) : only(next);
}

function itemsCame(state: State, event: Of<"items">, context: Context): Next {
  const { picker } = state;
  if (picker?.kind !== event.kind) return only(state);
  const next = looking({ ...state, picker: withItems(picker, event) });
  const isFollowed = event.kind === "subagents" || event.kind === "jobs";
  return picker.outdated && isFollowed ? listChanged(next.state, event.kind, context) : next;
}

/** The list of sub-agents, or of jobs, is asked for again while it is open: one question at a time, however much changes. */
function listChanged(state: State, what: "subagents" | "jobs", { now }: Context): Next {
  const { picker } = state;
  if (picker?.kind !== what || state.link.kind !== "open") return only(state);
  if (picker.asking) return only({ ...state, picker: { ...picker, outdated: true } });
  return and({ ...state, picker: { ...picker, asking: true, askedAt: now } }, { kind: "pick", what });
}

/** What failed may have been the question for a list: it may be asked again. */
const unasked = (state: State): State => (state.picker?.asking ? { ...state, picker: { ...state.picker, asking: false } } : state);

type Handlers = { readonly [T in TuiEvent["type"]]: (state: State, event: Of<T>, context: Context) => Next };

const HANDLERS: Handlers = {
  key: inputCame,
  text: inputCame,
  paste: inputCame,
  wheel: inputCame,
  connected,
  lost: (state, { why, retryAt }) => only({ ...state, link: { kind: "lost", why, retryAt } }),
  gap: (state) => refreshed(state),
  changed: (state, { sessionKey }) => (sessionKey === state.sessionKey ? outdated(state) : only(state)),
  chat: (state, { payload }) => chatCame(state, payload),
  agent: (state, { payload }) => agentCame(state, payload),
  history: (state, event) => {
    const next = historyCame(state, event);
    return next.stale && next.read === next.reads ? reading(next) : only(next);
  },
  facts: (state, event, context) => only(factsCame(state, event, context)),
  agents: (state, { agents }) => only({ ...state, agents }),
  commands: (state, { commands }) => only({ ...state, commands: mergeCommands(commands) }),
  items: itemsCame,
  subagents: (state, _event, context) => listChanged(state, "subagents", context),
  jobs: (state, _event, context) => listChanged(state, "jobs", context),
  answered: (state, { text }, { now }) => only(noted(state, now, text)),
  asked: (state, { approval }) => only(asked(state, approval)),
  decided: (state, { id, decision, by }, { now }) => only(decided(state, id, decision, by, now)),
  approvals: (state, { approvals }) => only(listed(state, approvals)),
  undecided: (state, { id, error }, { now }) => only(noted(undecided(state, id), now, error, "error")),
  accepted: acceptedBy,
  refused: (state, { runId, error }) => only(refused({ ...state, aborting: false }, runId, error)),
  "changed-session": (state, { text }, { now }) => {
    const next = refreshed(state);
    return { ...next, state: noted(next.state, now, text) };
  },
  failed: (state, { error }, { now }) => only(noted({ ...unasked(state), aborting: false }, now, error, "error")),
  "shell-ended": (state, event, context) => only(shellEnded(state, event, context)),
  tick: (state, _event, context) => ticked(state, context),
};

/** What becomes of the state when something happens, and what is to be done then. */
export function update(state: State, event: TuiEvent, context: Context): Next {
  // Each handler takes the event of its own name; the table's type states that, a lookup cannot.
  const handle = HANDLERS[event.type] as (state: State, event: TuiEvent, context: Context) => Next;
  return handle(state, event, context);
}
