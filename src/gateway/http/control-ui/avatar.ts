/** Pictures of agents, for the page: what `identity.avatar` names, and nothing else of the workspace. */
import { createHash } from "node:crypto";
import { relative, resolve } from "node:path";
import type { Config, OpenClawConfig } from "../../../config/index.ts";
import { agentList } from "../../methods/sessions/keys.ts";
import { sendError, sendJson } from "../reply.ts";
import type { Exchange } from "../route.ts";
import { basePathOf, below } from "../../base-path.ts";
import { openBelow } from "../../../base/open-below.ts";
import { isKnown } from "./negotiation.ts";
import { fileHeaders } from "./policy.ts";

export interface AvatarDeps {
  readonly config: Pick<Config, "current">;
  /** Folder of an agent's files. Without it there are no pictures of files. */
  readonly workspaceOf?: ((agentId: string) => string) | undefined;
}

const MAX_BYTES = 2 * 1024 * 1024;
/** Base64 takes four characters for three bytes. */
const MAX_DATA_CHARS = Math.ceil(MAX_BYTES / 3) * 4 + 64;

/** By content: a name says nothing. SVG is not among them: it is a document with scripts. */
const SIGNATURES: readonly (readonly [type: string, pattern: RegExp])[] = [
  ["image/png", /^89504e470d0a1a0a/],
  ["image/jpeg", /^ffd8ff/],
  ["image/gif", /^474946383[79]61/],
  ["image/webp", /^52494646.{8}57454250/],
];

function pictureType(bytes: Buffer): string | undefined {
  const hex = bytes.subarray(0, 12).toString("hex");
  return SIGNATURES.find(([, pattern]) => pattern.test(hex))?.[0];
}

type Avatar = { readonly kind: "file"; readonly name: string } | { readonly kind: "remote" | "data"; readonly url: string };

/** The picture of an agent that is there, as the configuration names it. */
function avatarOf(config: OpenClawConfig, agentId: string): Avatar | undefined {
  const text = agentList(config)
    .find(({ id }) => id.toLowerCase() === agentId)
    ?.identity?.avatar?.trim();
  if (!text) return undefined;
  if (/^https?:\/\//i.test(text)) return { kind: "remote", url: text };
  if (/^data:/i.test(text)) return /^data:image\//i.test(text) && text.length <= MAX_DATA_CHARS ? { kind: "data", url: text } : undefined;
  return { kind: "file", name: text };
}

/** The bytes of a file of the workspace. Undefined when there is none, when it lies elsewhere, links included, or when it is too large. */
async function readBelow(folder: string, name: string): Promise<Buffer | undefined> {
  await using handle = await openBelow(folder, relative(folder, resolve(folder, name)));
  if (!handle) return undefined;
  const { size } = await handle.stat();
  if (size === 0 || size > MAX_BYTES) return undefined;
  const bytes = Buffer.alloc(size);
  const { bytesRead } = await handle.read(bytes, 0, size, 0);
  return bytes.subarray(0, bytesRead);
}

async function bytesOf(avatar: Avatar | undefined, workspace: string | undefined): Promise<Buffer | undefined> {
  if (avatar?.kind === "file") return workspace === undefined ? undefined : readBelow(workspace, avatar.name);
  const base64 = avatar?.kind === "data" ? /^data:image\/[\w.+-]+;base64,([\w+/=]+)$/i.exec(avatar.url)?.[1] : undefined;
  return base64 === undefined ? undefined : Buffer.from(base64, "base64");
}

interface Picture {
  readonly bytes: Buffer;
  readonly type: string;
}

async function pictureOf(avatar: Avatar | undefined, workspace: string | undefined): Promise<Picture | undefined> {
  const bytes = await bytesOf(avatar, workspace);
  const type = bytes && bytes.length <= MAX_BYTES ? pictureType(bytes) : undefined;
  return bytes && type !== undefined ? { bytes, type } : undefined;
}

/** Answers `avatar/<agentId>`: the picture, or with `?meta=1` where it is. Agents without one and those that are not there are alike. */
export async function sendAvatar({ request, response, path, query }: Exchange, { config, workspaceOf }: AvatarDeps): Promise<void> {
  const base = basePathOf(config.current) ?? "/";
  const agentId = /^[a-z0-9][a-z0-9_-]{0,63}$/i.exec(path.slice(below(base, "avatar/").length))?.[0].toLowerCase();
  const avatar = agentId === undefined ? undefined : avatarOf(config.current, agentId);
  const picture = agentId === undefined ? undefined : await pictureOf(avatar, workspaceOf?.(agentId));
  if (query.get("meta") === "1") {
    const own = picture && avatar?.kind === "file" ? below(base, `avatar/${agentId}`) : undefined;
    return sendJson(response, 200, { avatarUrl: own ?? (avatar?.kind === "file" ? null : (avatar?.url ?? null)) });
  }
  if (!picture) return sendError(response, { status: 404, message: "this agent has no avatar file", type: "not_found" });
  const { bytes, type } = picture;
  const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 27)}"`;
  const caching = { "cache-control": "no-cache", etag };
  if (isKnown(request.headers["if-none-match"], etag)) return void response.writeHead(304, caching).end();
  response.writeHead(200, { ...fileHeaders(type), ...caching, "content-type": type, "content-length": bytes.length });
  response.end(request.method === "HEAD" ? undefined : bytes);
}
