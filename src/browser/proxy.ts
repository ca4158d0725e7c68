/** The other side of `browser.proxy`: requests of a gateway to the browser of this node. */
import { join, relative, sep } from "node:path";
import { AppError } from "../base/errors.ts";
import { openBelow } from "../base/open-below.ts";
import { isRecord } from "../base/records.ts";
import { getFileExtension, mimeForExtension } from "../media/index.ts";
import { textIn } from "./params.ts";
import type { BrowserRequest } from "./routes.ts";
import { MAX_FILE_BYTES, RELAY_PROFILE } from "./settings.ts";

export interface ProxyRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly timeoutMs?: number;
  readonly profile?: string;
  /** Whose current tab is meant. */
  readonly session?: string;
}

/** A file that the browser made: a picture, a print, a recording. */
export interface ProxyFile {
  readonly path: string;
  readonly base64: string;
  readonly mimeType?: string | undefined;
}

export interface ProxyAnswer {
  readonly result: unknown;
  readonly files?: readonly ProxyFile[] | undefined;
}

export interface ProxyDeps {
  readonly request: (request: BrowserRequest) => Promise<unknown>;
  readonly stateDir: string;
  /** `nodeHost.browserProxy`, as it is now. */
  readonly settings: () => { readonly enabled?: boolean | undefined; readonly allowProfiles?: readonly string[] | undefined };
  /** The profile that is meant when none is named. */
  readonly defaultProfile: () => Promise<string>;
}

const METHODS = ["GET", "POST", "DELETE"] as const;

function parsed(params: unknown): ProxyRequest {
  const { method, path, query, body, timeoutMs, profile, session } = isRecord(params) ? params : {};
  const known = METHODS.find((one) => one === (typeof method === "string" ? method.toUpperCase() : "GET"));
  if (!known || typeof path !== "string" || path === "")
    throw new AppError("INVALID_INPUT", "browser.proxy takes method (GET, POST or DELETE), path, query, body, profile and timeoutMs");
  return {
    method: known,
    path,
    ...(isRecord(query) ? { query } : {}),
    body,
    ...(typeof timeoutMs === "number" ? { timeoutMs } : {}),
    ...(typeof profile === "string" && profile !== "" ? { profile } : {}),
    ...(typeof session === "string" ? { session: session.slice(0, 500) } : {}),
  };
}

/** Only files of the browser's own folder leave this machine, whatever an answer names. Undefined for a path elsewhere. */
async function fileAt(path: unknown, stateDir: string, most: number): Promise<ProxyFile | undefined> {
  const folder = join(stateDir, "media", "browser");
  if (typeof path !== "string" || !path.startsWith(folder + sep)) return undefined;
  await using file = await openBelow(folder, relative(folder, path));
  if (!file) throw new AppError("NOT_FOUND", `the browser's file is missing, or outside its folder: ${path}`);
  const { size } = await file.stat();
  if (size > most) throw new AppError("OVERLOADED", `the file has ${size} bytes; a node sends at most ${most}. It is on the node: ${path}`);
  return { path, base64: (await file.readFile()).toString("base64"), mimeType: mimeForExtension(getFileExtension(path)) };
}

/** The file that an answer is about, and downloads that it reports as far as they fit. */
async function filesOf(result: unknown, stateDir: string): Promise<readonly ProxyFile[]> {
  const { path, downloads } = isRecord(result) ? result : {};
  const own = await fileAt(path, stateDir, MAX_FILE_BYTES);
  const files = own ? [own] : [];
  let left = MAX_FILE_BYTES;
  for (const download of Array.isArray(downloads) ? downloads.filter(isRecord) : []) {
    // One that is too large, or gone, stays here: the answer says where.
    const file = await fileAt(download["path"], stateDir, left).catch(() => undefined);
    if (!file) continue;
    files.push(file);
    left -= Buffer.byteLength(file.base64, "base64");
  }
  return files;
}

/** Carries out one `browser.proxy`. */
export async function answerProxy(params: unknown, signal: AbortSignal, { request, stateDir, settings, defaultProfile }: ProxyDeps): Promise<ProxyAnswer> {
  const { method, path, query = {}, body, timeoutMs, profile, session = "" } = parsed(params);
  const { enabled, allowProfiles = [] } = settings();
  if (enabled === false) throw new AppError("PERMISSION_DENIED", "this node does not share its browser: nodeHost.browserProxy.enabled is false");
  const isList = method === "GET" && /^\/?profiles\/?$/.test(path);
  // Read as the routes read it.
  const asked = textIn({ profile }, "profile") ?? textIn({ ...query, ...(isRecord(body) ? body : {}) }, "profile");
  const used = asked ?? (await defaultProfile());
  if (!isList && used === RELAY_PROFILE)
    throw new AppError(
      "PERMISSION_DENIED",
      "a node does not share tabs of its user's own Chrome: leave target and node out to use those of the gateway's machine",
    );
  if (!isList && allowProfiles.length > 0 && !allowProfiles.includes(used))
    throw new AppError(
      "PERMISSION_DENIED",
      `this node does not share the browser profile ${used.slice(0, 80)}: nodeHost.browserProxy.allowProfiles does not name it`,
    );
  const named = asked === undefined ? {} : { profile: asked };
  const answered = await request({
    method,
    path,
    query: { ...query, ...named },
    body: isRecord(body) ? { ...body, ...named } : body,
    timeoutMs,
    signal,
    caller: `gateway:${session}`,
    mayConfigure: false,
  });
  const result =
    isList && isRecord(answered) && Array.isArray(answered["profiles"]) && allowProfiles.length > 0
      ? { profiles: answered["profiles"].filter((row) => isRecord(row) && typeof row["name"] === "string" && allowProfiles.includes(row["name"])) }
      : answered;
  const files = await filesOf(result, stateDir);
  return { result, ...(files.length === 0 ? {} : { files }) };
}
