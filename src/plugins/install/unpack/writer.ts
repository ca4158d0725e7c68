import { createWriteStream } from "node:fs";
import { copyFile, lstat, mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileError, systemCode } from "../../../base/errors.ts";
import { formatBytes } from "../../../base/text.ts";
import type { InstallLimits } from "../limits.ts";
import { refused } from "../refusal.ts";

/**
 * The path of an archive's entry below the folder it is unpacked into, with `/` between its parts; empty for that folder itself.
 * Throws for a name that leads, or could lead on some system, to any other place.
 */
function entryPath(name: string, limits: InstallLimits): string {
  if (name.includes("\0")) throw refused(name, "its name has a NUL character");
  if (name.includes("\\")) throw refused(name, "its name has a backslash, which is a path on some systems");
  if (name.startsWith("/")) throw refused(name, "it has an absolute path");
  if (/^[A-Za-z]:/.test(name)) throw refused(name, "its name begins with a drive letter");
  if (Buffer.byteLength(name) > limits.pathLength) throw refused(name, `its name is longer than ${limits.pathLength} bytes`);
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw refused(name, 'its path has "..": it leaves the folder that it is unpacked into');
  if (parts.length > limits.depth) throw refused(name, `it is more than ${limits.depth} folders deep`);
  return parts.join("/");
}

/** Where a symbolic link at `path` leads, by text alone. Throws when that is outside. */
function checkLinkTarget(path: string, target: string): void {
  if (target.includes("\0") || target.includes("\\")) throw refused(path, "it is a link with an invalid target");
  if (target.startsWith("/") || /^[A-Za-z]:/.test(target)) throw refused(path, `it is a link to the absolute path ${JSON.stringify(target)}`);
  let depth = path.split("/").length - 1;
  for (const part of target.split("/")) {
    if (part === "..") depth -= 1;
    else if (part !== "" && part !== ".") depth += 1;
    if (depth < 0) throw refused(path, `it is a link that leaves its folder: ${JSON.stringify(target)}`);
  }
}

/** Writes an archive's entries into a folder. Nothing is ever written through a link: links are made when everything else is there. */
export interface Writer {
  folder(name: string): Promise<void>;
  file(name: string, content: AsyncIterable<Buffer>): Promise<void>;
  symbolicLink(name: string, target: string): void;
  /** A second name for a file of the archive: it becomes a copy. */
  hardLink(name: string, target: string): Promise<void>;
  /** Makes the links. */
  finish(): Promise<void>;
}

/** `packed`: bytes of the archive. */
export function createWriter(root: string, packed: number, limits: InstallLimits): Writer {
  const links: (readonly [path: string, target: string])[] = [];
  let entries = 0;
  let bytes = 0;

  function place(name: string): string {
    entries += 1;
    if (entries > limits.entries) throw refused(name, `the archive has more than ${limits.entries} entries`);
    return entryPath(name, limits);
  }

  function weigh(name: string, more: number): void {
    bytes += more;
    if (bytes > limits.bytes) throw refused(name, `the archive unpacks to more than ${formatBytes(limits.bytes)}`);
    if (bytes > limits.ratioFromBytes && bytes > packed * limits.ratio) {
      throw refused(name, `the archive unpacks to more than ${limits.ratio} times its size`);
    }
  }

  async function put<T>(path: string, work: (full: string) => Promise<T>): Promise<T> {
    const full = join(root, path);
    try {
      await mkdir(dirname(full), { recursive: true, mode: 0o755 });
      return await work(full);
    } catch (error) {
      if (systemCode(error) === "EEXIST" || systemCode(error) === "ENOTDIR") throw refused(path, "the archive has two entries with this path");
      throw fileError(full, "could not unpack", error);
    }
  }

  return {
    async folder(name) {
      const path = place(name);
      if (path !== "") await put(path, (full) => mkdir(full, { recursive: true, mode: 0o755 }));
    },
    async file(name, content) {
      const path = place(name);
      if (path === "") throw refused(name, "a file has no name");
      async function* weighed(): AsyncGenerator<Buffer> {
        for await (const chunk of content) {
          weigh(name, chunk.length);
          yield chunk;
        }
      }
      await put(path, (full) => pipeline(weighed, createWriteStream(full, { flags: "wx", mode: 0o644 })));
    },
    symbolicLink(name, target) {
      const path = place(name);
      checkLinkTarget(path, target);
      links.push([path, target]);
    },
    async hardLink(name, target) {
      const path = place(name);
      const from = join(root, entryPath(target, limits));
      const stat = await lstat(from).catch(() => undefined);
      if (!stat?.isFile()) throw refused(name, `it is a hard link to ${JSON.stringify(target)}, which is not a file of the archive`);
      weigh(name, stat.size);
      await put(path, (full) => copyFile(from, full, 1));
    },
    async finish() {
      for (const [path, target] of links) await put(path, (full) => symlink(target, full));
    },
  };
}
