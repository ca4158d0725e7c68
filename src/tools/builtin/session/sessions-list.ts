import { isAbsolute, join } from "node:path";
import { canonicalSessionKey, parseSessionKey } from "../../../protocol/index.ts";
import { deliveryOf, knownTokens } from "../../../sessions/index.ts";
import type { SessionFilter, SessionRow } from "../../../store/index.ts";
import { groupOfKey } from "../../policy/group.ts";
import { defineTool } from "../../declaration.ts";
import { jsonOutcome, type ToolContext } from "../../tool.ts";
import type { SessionToolsDeps } from "./deps.ts";
import { MAX_BYTES, mainFile, readHistory } from "./shown-messages.ts";
import { agentsMayMeet, namingFor, shownKey, visibilityOf } from "./visibility.ts";

const KINDS = ["main", "group", "cron", "hook", "node", "other"] as const;
type Kind = (typeof KINDS)[number];

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
const MAX_MESSAGES = 20;
/** A hundred years. */
const MAX_MINUTES = 100 * 365 * 24 * 60;
/** Rows asked for at a time, and how often at most. */
const PAGE = 500;
const MAX_PAGES = 20;
/** Sessions that one may have begun, with theirs. */
const MAX_TREE = 1000;

/** Which sessions there are, for the agent that asks. */
export const sessionsListTool = defineTool<SessionToolsDeps>({
  name: "sessions_list",
  groups: ["sessions", "openclaw"],
  reach: { reads: "private" },
  promptLine: "list other sessions",
  icon: "🗂️",
  profiles: ["messaging"],
  inSandbox: "allowed",
  subagents: "not-deepest",
  label: "Sessions",
  description: "List sessions, the latest first, by kind and activity; messageLimit adds the last messages of each.",
  parameters: {
    type: "object",
    properties: {
      kinds: { type: "array", items: { type: "string", enum: [...KINDS] } },
      limit: { type: "number", minimum: 1, description: `Maximum number of sessions (default ${DEFAULT_LIMIT}, at most ${MAX_LIMIT})` },
      activeMinutes: { type: "number", minimum: 1, description: "Only those with activity in the last minutes" },
      messageLimit: { type: "number", minimum: 0, description: `Last messages of each (default 0, at most ${MAX_MESSAGES})` },
    },
  },
  idempotent: true,
  executionMode: "parallel",
  run:
    (deps) =>
    async ({ params, context, signal }) => {
      const within = (key: string, least: number, most: number): number | undefined => {
        const value = params[key];
        return typeof value === "number" && Number.isFinite(value) ? Math.min(most, Math.max(least, Math.floor(value))) : undefined;
      };
      const minutes = within("activeMinutes", 1, MAX_MINUTES);
      const wanted = {
        kinds: Array.isArray(params["kinds"]) && params["kinds"].length > 0 ? new Set<Kind>(params["kinds"]) : undefined,
        limit: within("limit", 1, MAX_LIMIT) ?? DEFAULT_LIMIT,
        activeSince: minutes === undefined ? undefined : deps.clock.now() - minutes * 60_000,
      };
      const rows = await visibleRows(deps, context, wanted);
      const perSession = within("messageLimit", 0, MAX_MESSAGES) ?? 0;
      let budget = MAX_BYTES;
      const sessions = [];
      for (const row of rows) {
        signal.throwIfAborted();
        const shown = shownRow(row, deps.stateDir);
        if (perSession === 0) sessions.push(shown);
        else {
          const { messages, bytes } = await readHistory(deps.store, row, { limit: perSession, includeTools: false, redact: deps.redact, maxBytes: budget });
          budget = Math.max(0, budget - bytes);
          sessions.push({ ...shown, messages });
        }
      }
      return jsonOutcome({ count: sessions.length, sessions });
    },
});

interface Wanted {
  readonly kinds: ReadonlySet<Kind> | undefined;
  readonly limit: number;
  readonly activeSince: number | undefined;
}

async function visibleRows(deps: SessionToolsDeps, context: ToolContext, { kinds, limit, activeSince }: Wanted): Promise<readonly SessionRow[]> {
  const config = deps.config();
  const isGlobal = config.session?.scope === "global";
  const fits = ({ key, entry }: SessionRow): boolean =>
    key !== "unknown" && (key !== "global" || isGlobal) && (activeSince === undefined || entry.updatedAt >= activeSince) && (!kinds || kinds.has(kindOf(key)));
  const visibility = visibilityOf(deps, context);
  if (visibility === "self" || visibility === "tree") {
    const rows = await treeOf(deps, context, visibility === "tree");
    return rows
      .filter(fits)
      .sort((a, b) => b.entry.updatedAt - a.entry.updatedAt)
      .slice(0, limit);
  }
  const mayMeet = ({ agentId }: SessionRow): boolean => agentsMayMeet(config, context.agentId.toLowerCase(), agentId.toLowerCase());
  const filter: SessionFilter = { activeSince, ...(visibility === "agent" ? { agentId: context.agentId.toLowerCase() } : {}) };
  const found: SessionRow[] = [];
  for (let page = 0; page < MAX_PAGES && found.length < limit; page += 1) {
    const { rows } = await deps.store.read("sessions.list", { ...filter, limit: PAGE, offset: page * PAGE });
    found.push(...rows.filter((row) => fits(row) && mayMeet(row)));
    if (rows.length < PAGE) break;
  }
  return found.slice(0, limit);
}

/** The caller's session and those that it began, and theirs. */
async function treeOf({ store, config }: SessionToolsDeps, context: ToolContext, withChildren: boolean): Promise<readonly SessionRow[]> {
  const own = await store.read("sessions.get", { key: context.sessionKey });
  const found = new Map<string, SessionRow>(own ? [[own.key, own]] : []);
  const open = withChildren ? [context.sessionKey] : [];
  for (let parent = open.shift(); parent !== undefined && found.size < MAX_TREE; parent = open.shift()) {
    const { rows } = await store.read("sessions.list", { spawnedBy: parent, limit: PAGE });
    for (const row of rows) {
      const key = canonicalSessionKey(row.key, namingFor(config(), context)) ?? row.key;
      if (found.has(key)) continue;
      found.set(key, row);
      open.push(key);
    }
  }
  return [...found.values()];
}

/** What kind of session a key is of. */
export function kindOf(key: string): Kind {
  const parsed = parseSessionKey(key);
  if (parsed?.kind === "global") return "main";
  const rest = parsed?.kind === "agent" ? parsed.rest : key;
  if (rest === "main") return "main";
  if (rest.startsWith("cron:")) return "cron";
  if (rest.startsWith("hook:")) return "hook";
  if (/^node[-:]/.test(rest)) return "node";
  return /(?:^|:)(?:group|channel):/.test(rest) ? "group" : "other";
}

/** Fields of the stored entry that a row shows as they are. */
const SHOWN = [
  "label",
  "displayName",
  "contextTokens",
  "thinkingLevel",
  "verboseLevel",
  "systemSent",
  "abortedLastRun",
  "sendPolicy",
  "lastChannel",
  "lastTo",
  "lastAccountId",
] as const;

function shownRow({ key, agentId, entry }: SessionRow, stateDir: string): Readonly<Record<string, unknown>> {
  const kind = kindOf(key);
  const delivery = deliveryOf(entry);
  const file = entry.sessionFile ?? mainFile(agentId, entry.sessionId);
  const model = typeof entry["modelOverride"] === "string" ? entry["modelOverride"] : entry.model;
  const tokens = knownTokens(entry);
  return {
    key: shownKey(key),
    kind,
    channel: channelOf(key, kind, entry),
    ...Object.fromEntries(SHOWN.filter((name) => entry[name] !== undefined && entry[name] !== null).map((name) => [name, entry[name]])),
    ...(delivery ? { deliveryContext: delivery } : {}),
    updatedAt: entry.updatedAt,
    sessionId: entry.sessionId,
    ...(model === undefined ? {} : { model }),
    ...(tokens === undefined || tokens === null ? {} : { totalTokens: tokens }),
    ...(file === undefined ? {} : { transcriptPath: isAbsolute(file) ? file : join(stateDir, file) }),
  };
}

function channelOf(key: string, kind: Kind, entry: SessionRow["entry"]): string {
  if (kind === "cron" || kind === "hook" || kind === "node") return "internal";
  const named = kind === "group" ? [entry.channel, groupOfKey(key)?.channel, entry.lastChannel] : [entry.lastChannel, entry.channel];
  return named.find((name) => typeof name === "string" && name !== "") ?? "unknown";
}
