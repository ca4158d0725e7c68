import { AppError } from "../../../base/errors.ts";
import { isPrintable } from "../../../base/printable.ts";
import type { MethodParams, MethodResult, SessionEntry } from "../../../protocol/index.ts";
import type { SessionRow } from "../../../store/index.ts";
import { changedByClient, CHOICE_FIELDS, isSessionSandboxed } from "../../../tools/index.ts";
import type { MethodDeps } from "../deps.ts";
import { storePath } from "./find.ts";
import { agentOf, canonicalKey, checkAgent, isSubagent } from "./keys.ts";
import { chosenModel, modelDefaults, sessionModel } from "./models.ts";
import { inTurn, type SessionTurns } from "./turns.ts";

type Params = MethodParams<"sessions.patch">;
type Fields = Record<string, unknown>;
/** Fields with their new texts; null takes one away. */
type Changes = Record<string, string | null>;

/** Fields that take one of a few words. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  thinkingLevel: ["off", "minimal", "low", "medium", "high", "xhigh"],
  verboseLevel: ["on", "off", "full"],
  reasoningLevel: ["on", "off", "stream"],
  responseUsage: ["off", "tokens", "full", "on"],
  elevatedLevel: ["on", "off", "ask", "full"],
  execHost: ["sandbox", "gateway", "node"],
  execSecurity: ["deny", "allowlist", "full"],
  execAsk: ["off", "on-miss", "always"],
  sendPolicy: ["allow", "deny"],
  groupActivation: ["mention", "always"],
};
const MAX_LABEL = 64;

const invalid = (message: string): AppError => new AppError("INVALID_INPUT", message);

function words(params: Readonly<Fields>): Changes {
  const changes: Changes = {};
  for (const [field, known] of Object.entries(WORDS)) {
    const value = params[field];
    if (value === undefined) continue;
    const word = typeof value === "string" ? value.trim().toLowerCase() : null;
    if (word !== null && !known.includes(word)) throw invalid(`invalid ${field} (use ${known.map((item) => `"${item}"`).join("|")})`);
    changes[field] = word;
  }
  return changes;
}

/** What a sub-agent's session says of its parent is set once. */
function spawnFields(params: Params, key: string, entry: SessionEntry | undefined): Fields {
  const changes: Fields = {};
  for (const field of ["spawnedBy", "spawnDepth"] as const) {
    const value = params[field];
    if (value === undefined) continue;
    if (value === null) {
      if (entry?.[field] !== undefined) throw invalid(`${field} cannot be cleared once set`);
      continue;
    }
    if (!isSubagent(key)) throw invalid(`${field} is only supported for subagent:* sessions`);
    if (entry?.[field] !== undefined && entry[field] !== value) throw invalid(`${field} cannot be changed once set`);
    changes[field] = value;
  }
  return changes;
}

async function labelField({ label }: Params, key: string, { store }: MethodDeps): Promise<Fields> {
  if (label === undefined || label === null) return label === null ? { label } : {};
  const text = label.trim();
  if (!isPrintable(text)) throw invalid("invalid label: it has non-printable characters, such as line breaks or control sequences");
  if (text === "" || text.length > MAX_LABEL) throw invalid(`invalid label: use 1 to ${MAX_LABEL} characters`);
  const others = (await store.read("sessions.byLabel", { label: text })).filter((row) => row.key !== key);
  if (others.length > 0) throw invalid(`label already in use: ${text}`);
  return { label: text };
}

function modelFields({ model }: Params, { config }: MethodDeps): Fields {
  if (model === undefined) return {};
  if (model === null) return { modelOverride: null, providerOverride: null };
  const chosen = chosenModel(config.current, model);
  const defaults = modelDefaults(config.current);
  // The default needs no override: it follows the configuration.
  if (chosen.provider === defaults.modelProvider && chosen.model === defaults.model) return { modelOverride: null, providerOverride: null };
  return { modelOverride: chosen.model, providerOverride: chosen.provider };
}

/** How commands run: the same table decides as for `/exec` and `/elevated`. */
function choiceFields(changes: Changes, { execNode }: Params, key: string, row: SessionRow | undefined, { config, scopes }: PatchDeps): Fields {
  const node = execNode === undefined ? {} : { execNode: execNode === null ? null : execNode.trim() };
  const wanted: Changes = { ...changes, ...node };
  const change = Object.fromEntries(CHOICE_FIELDS.flatMap((field) => (wanted[field] === undefined ? [] : [[field, wanted[field]]])));
  if (Object.keys(change).length === 0) return {};
  const agentId = row?.agentId ?? agentOf(key, config.current);
  const sandboxed = isSessionSandboxed(config.current, agentId, key);
  return { ...changedByClient({ config: config.current, agentId, sandboxed, entry: row?.entry, change, asker: { owner: false, scopes } }) };
}

async function changesOf(params: Params, key: string, row: SessionRow | undefined, deps: PatchDeps): Promise<Fields> {
  const changes = words(params);
  return {
    ...changes,
    ...choiceFields(changes, params, key, row, deps),
    ...spawnFields(params, key, row?.entry),
    ...modelFields(params, deps),
    ...(await labelField(params, key, deps)),
    ...listFields(params, deps.clock.now()),
  };
}

function folderField({ folder }: Params): Fields {
  if (folder === undefined || folder === null) return folder === null ? { folder } : {};
  const name = folder.trim();
  if (!isPrintable(name)) throw invalid("invalid folder: it has non-printable characters, such as line breaks or control sequences");
  if (name === "") throw invalid("invalid folder: use 1 to 64 characters, or null for none");
  return { folder: name };
}

/** How lists show a session. */
function listFields(params: Params, now: number): Fields {
  const { pinned, archived } = params;
  return {
    ...folderField(params),
    ...(pinned === undefined ? {} : { pinnedAt: pinned ? now : null }),
    ...(archived === undefined ? {} : { archivedAt: archived ? now : null }),
  };
}

/** Where a session stands in a list says nothing about when something happened in it. */
const isAboutLists = ({ key: _key, idempotencyKey: _once, pinned: _pinned, archived: _archived, folder: _folder, ...others }: Params): boolean =>
  Object.values(others).every((value) => value === undefined);

/** An entry with fields changed; null takes one away. */
export function withFields(entry: SessionEntry, changes: Fields): SessionEntry {
  return Object.fromEntries(Object.entries({ ...entry, ...changes }).filter(([, value]) => value !== null && value !== undefined)) as unknown as SessionEntry;
}

type PatchDeps = MethodDeps & {
  /** Of the caller. */
  readonly scopes: readonly string[];
};

/** Changes a session's settings, or makes the session with them. */
export async function patchSession(params: Params, deps: PatchDeps & SessionTurns): Promise<MethodResult<"sessions.patch">> {
  const { config, turns } = deps;
  const key = canonicalKey(params.key, config.current);
  const attempt = (): Promise<SessionEntry> => patched(params, key, deps);
  // Two sessions that ask for one label at once must not both find it free.
  const { label } = params;
  const labelled = typeof label === "string" ? () => turns(`label ${label.trim()}`, attempt) : attempt;
  const entry = await inTurn(key, params.key, deps, labelled);
  const { modelProvider, model } = sessionModel(entry, modelDefaults(config.current));
  const resolved = { ...(modelProvider === null ? {} : { modelProvider }), ...(model === null ? {} : { model }) };
  return { ok: true, path: storePath(deps), key, entry, resolved };
}

async function patched(params: Params, key: string, deps: PatchDeps): Promise<SessionEntry> {
  const { config, store, clock, ids } = deps;
  const row = await store.read("sessions.get", { key });
  checkAgent(key, row, config.current);
  const changes = await changesOf(params, key, row, deps);
  const updatedAt = row && isAboutLists(params) ? row.entry.updatedAt : Math.max(row?.entry.updatedAt ?? 0, clock.now());
  const entry = withFields({ ...(row?.entry ?? { sessionId: ids.uuid() }), updatedAt }, changes);
  await store.write("sessions.put", { key, agentId: row?.agentId ?? agentOf(key, config.current), entry, version: row?.version ?? 0 });
  return entry;
}
