import { createHash } from "node:crypto";
import { join } from "node:path";
import type { SandboxSettings } from "./settings.ts";

const SLUG_CHARS = 32;
const HASH_CHARS = 8;
const NAME_CHARS = 63;

/** Who shares one sandbox. */
export interface SandboxScope {
  readonly key: string;
  /** The key as a name of files and containers. */
  readonly slug: string;
  /** Folder of the sandbox's own workspace. */
  readonly folder: string;
}

export function sandboxScope(settings: Pick<SandboxSettings, "scope" | "workspaceRoot">, agentId: string, sessionKey: string): SandboxScope {
  const { scope, workspaceRoot } = settings;
  if (scope === "shared") return { key: "shared", slug: "shared", folder: workspaceRoot };
  const key = scope === "session" ? sessionKey.trim() : `agent:${agentId}`;
  const slug = slugOf(key);
  return { key, slug, folder: join(workspaceRoot, slug) };
}

/** Readable, and different for different keys whatever is cut off. A name never begins with a dot: the hash comes last and `..` has no way in. */
function slugOf(key: string): string {
  const plain = key
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, SLUG_CHARS);
  return `${plain === "" ? "session" : plain}-${createHash("sha256").update(key).digest("hex").slice(0, HASH_CHARS)}`;
}

export function containerName(prefix: string, { slug }: Pick<SandboxScope, "slug">): string {
  return `${prefix}${slug}`.slice(0, NAME_CHARS);
}
