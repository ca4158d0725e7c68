import { join } from "node:path";
import { AppError } from "../../../base/errors.ts";
import { clip } from "../../../base/text.ts";
import type { MethodParams, MethodResult } from "../../../protocol/index.ts";
import { newestRows } from "../../../sessions/index.ts";
import type { SessionRow } from "../../../store/index.ts";
import type { MethodDeps } from "../deps.ts";
import { canonicalKey } from "./keys.ts";
import { modelDefaults } from "./models.ts";
import { sessionRows } from "./rows.ts";
import { liveFile, messageOfRow, shownText, type Message } from "./transcripts.ts";

type Deps = Pick<MethodDeps, "config" | "store" | "clock" | "extensions">;

/** Sessions of one page: without a limit, and at most. A longer answer would keep the others waiting while it is put together. */
const PAGE = 200;
const MAX_PAGE = 500;
/** How long a search waits for transcripts that are being imported. */
const IMPORT_WAIT_MS = 2000;

/** Where sessions are kept. */
export function storePath({ config }: Pick<MethodDeps, "config">): string {
  return join(config.paths.state, "openclaw.db");
}

export async function listSessions(params: MethodParams<"sessions.list">, deps: Deps): Promise<MethodResult<"sessions.list">> {
  const { config, store, clock } = deps;
  const now = clock.now();
  const { activeMinutes, automation, archived, pinned, filed, folder, label, agentId, search, offset = 0 } = params;
  const limit = Math.min(params.limit ?? PAGE, MAX_PAGE);
  const spawnedBy = params.spawnedBy === undefined ? undefined : canonicalKey(params.spawnedBy, config.current);
  const filter = {
    automation,
    archived,
    pinned,
    filed,
    folder,
    label,
    spawnedBy,
    agentId: agentId?.toLowerCase(),
    activeSince: activeMinutes === undefined ? undefined : now - activeMinutes * 60_000,
    except: [...(params.includeGlobal === true ? [] : ["global"]), ...(params.includeUnknown === true ? [] : ["unknown"])],
    limit,
    offset,
    after: params.cursor === undefined ? undefined : positionOf(params.cursor),
  };
  const words = search?.trim() || undefined;
  if (words !== undefined && params.cursor !== undefined) throw new AppError("INVALID_INPUT", "a search is paged with offset, not with cursor");
  const seen = { titles: params.includeDerivedTitles === true, last: params.includeLastMessage === true };
  const incomplete = words !== undefined && !(await isImported(store, clock));
  const { rows, total } =
    words !== undefined || seen.titles || seen.last
      ? await store.read("sessions.shown", { ...filter, last: seen.last, ...(words === undefined ? {} : { search: words }) })
      : await store.read("sessions.list", filter);
  const defaults = modelDefaults(config.current);
  const sessions = await sessionRows(rows, { defaults, ...seen, extensions: deps.extensions?.() });
  const folders = params.includeFolders === true ? { folders: [...(await store.read("sessions.folders", {}))] } : {};
  return {
    ts: now,
    path: storePath(deps),
    count: sessions.length,
    total,
    limitApplied: limit,
    ...pageAfter(rows, { limit, offset, total, cursor: params.cursor, isSearch: words !== undefined }),
    ...folders,
    ...(incomplete ? { incomplete } : {}),
    defaults,
    sessions,
  };
}

/** Where a page ends that begins behind this session: `<time>:<key>`. */
const cursorOf = ({ key, entry }: SessionRow): string => `${Math.trunc(entry.updatedAt)}:${key}`;

function positionOf(cursor: string): { readonly updatedAt: number; readonly key: string } {
  const [, time, key] = /^(\d{1,16}):([^]+)$/.exec(cursor) ?? [];
  if (time === undefined || key === undefined) throw new AppError("INVALID_INPUT", `invalid cursor "${cursor}"; use next of the previous page`);
  return { updatedAt: Number(time), key };
}

interface Paged {
  readonly limit: number;
  readonly offset: number;
  /** All that match, also before the cursor. */
  readonly total: number;
  readonly cursor: string | undefined;
  readonly isSearch: boolean;
}

/** How the next page is asked for. Behind a cursor it is not counted how many there are: a full page may be the last one. */
function pageAfter(
  rows: readonly SessionRow[],
  { limit, offset, total, cursor, isSearch }: Paged,
): Pick<MethodResult<"sessions.list">, "hasMore" | "nextOffset" | "next"> {
  const last = rows.at(-1);
  const nextOffset = offset + rows.length;
  const hasMore = last !== undefined && (cursor === undefined ? nextOffset < total : rows.length === limit);
  if (!hasMore) return { hasMore: false };
  return { hasMore: true, ...(cursor === undefined ? { nextOffset } : {}), ...(isSearch ? {} : { next: cursorOf(last) }) };
}

/** Waits a moment for the import of another program's transcripts: what they begin with is not found before. */
async function isImported(store: Deps["store"], clock: Deps["clock"]): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  using _timer = clock.after(IMPORT_WAIT_MS, () => resolve(false));
  return await Promise.race([promise, store.imported().then(() => true)]);
}

const MAX_KEYS = 64;
const MAX_ITEMS = 50;
/** Sessions that are read at the same time. The entries of all 64 at once would hold the loop while they arrive. */
const READ_TOGETHER = 4;

type Preview = MethodResult<"sessions.preview">["previews"][number];
type PreviewRole = Preview["items"][number]["role"];

function roleOf({ role }: Message): PreviewRole {
  if (role === "toolResult" || role === "tool" || role === "bashExecution") return "tool";
  return role === "user" || role === "assistant" || role === "system" ? role : "other";
}

export async function previewSessions(params: MethodParams<"sessions.preview">, deps: Deps): Promise<MethodResult<"sessions.preview">> {
  const { config, store, clock } = deps;
  const limit = Math.min(params.limit ?? 12, MAX_ITEMS);
  const maxChars = params.maxChars ?? 240;
  const preview = async (key: string): Promise<Preview> => {
    const session = await store.read("sessions.get", { key: canonicalKey(key, config.current) });
    if (!session) return { key, status: "missing", items: [] };
    const file = await liveFile(store, session);
    const items: Preview["items"][number][] = [];
    for await (const row of file === undefined ? [] : newestRows(store, file, limit * 4)) {
      const message = messageOfRow(row);
      const text = message ? clip(shownText(message), maxChars) : "";
      if (message && text !== "") items.push({ role: roleOf(message), text });
      if (items.length === limit) break;
    }
    items.reverse();
    return { key, status: items.length === 0 ? "empty" : "ok", items };
  };
  const failed = (key: string) => (): Preview => ({ key, status: "error", items: [] });
  const keys = params.keys.slice(0, MAX_KEYS);
  const previews: Preview[] = [];
  while (previews.length < keys.length) {
    const next = keys.slice(previews.length, previews.length + READ_TOGETHER);
    previews.push(...(await Promise.all(next.map((key) => preview(key).catch(failed(key))))));
  }
  return { ts: clock.now(), previews };
}

export async function resolveSession(params: MethodParams<"sessions.resolve">, deps: Deps): Promise<MethodResult<"sessions.resolve">> {
  const [wanted, ...others] = [params.key, params.sessionId, params.label].filter((value) => value !== undefined);
  if (wanted === undefined || others.length > 0) throw new AppError("INVALID_INPUT", "set exactly one of key, sessionId or label");
  const fits = ({ key, agentId, entry }: SessionRow): boolean =>
    (params.agentId === undefined || agentId === params.agentId.toLowerCase()) &&
    (params.spawnedBy === undefined || entry.spawnedBy === canonicalKey(params.spawnedBy, deps.config.current)) &&
    (key !== "global" || params.includeGlobal === true || params.key !== undefined) &&
    (key !== "unknown" || params.includeUnknown === true || params.key !== undefined);
  const found = (await candidates(params, wanted, deps)).filter(fits);
  const [first] = found;
  if (!first) throw new AppError("INVALID_INPUT", `No session found: ${wanted}`);
  if (found.length > 1 && params.label !== undefined) {
    throw new AppError("INVALID_INPUT", `several sessions have the label ${wanted}: ${found.map((row) => row.key).join(", ")}; use a key`);
  }
  return { ok: true, key: first.key };
}

async function candidates(params: MethodParams<"sessions.resolve">, wanted: string, { config, store }: Deps): Promise<readonly SessionRow[]> {
  if (params.label !== undefined) return store.read("sessions.byLabel", { label: wanted });
  if (params.sessionId !== undefined) return store.read("sessions.bySessionId", { sessionId: wanted });
  const row = await store.read("sessions.get", { key: canonicalKey(wanted, config.current) });
  return row ? [row] : [];
}
