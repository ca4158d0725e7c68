import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { AppError } from "../../base/errors.ts";
import { expandHome } from "../../config/index.ts";
import { isArchive } from "../install/unpack/index.ts";

/** What the user named. `folder` is the one of the skill in it, where it holds more than that. */
export type SkillSource = { readonly folder?: string | undefined } & (
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "archive"; readonly path: string }
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "git"; readonly url: string; readonly ref?: string | undefined }
);

/** Sites whose addresses of two parts are repositories. */
const GIT_HOSTS = /^(?:github\.com|gitlab\.com|codeberg\.org|bitbucket\.org)$/;
const SCP_FORM = /^[\w.-]+@[\w.-]+:[\w./~-]+$/;
const REF = /^[\w][\w./+-]{0,199}$/;

const wrong = (message: string): AppError => new AppError("INVALID_INPUT", message);

/** Whether a text names a place rather than a skill. */
export function isSkillSource(text: string, cwd: string): boolean {
  return /[/\\#]|^[.~]|:/.test(text) || isArchive(text) || existsSync(resolve(cwd, text, "SKILL.md"));
}

/** Splits off `#ref`, `#ref:folder` or `#:folder`. */
function splitFragment(text: string): { readonly base: string; readonly ref?: string; readonly folder?: string } {
  const at = text.indexOf("#");
  if (at < 0) return { base: text };
  const [ref = "", folder = "", ...more] = text.slice(at + 1).split(":");
  if (more.length > 0) throw wrong(`${JSON.stringify(text.slice(at))}: expected #ref, #ref:folder or #:folder`);
  if (ref !== "" && (!REF.test(ref) || ref.includes(".."))) throw wrong(`${JSON.stringify(ref)} is not a branch, tag or commit`);
  if (folder.split(/[/\\]/).includes("..") || folder.startsWith("/")) throw wrong(`${JSON.stringify(folder)} is outside the archive or repository`);
  return { base: text.slice(0, at), ...(ref === "" ? {} : { ref }), ...(folder === "" ? {} : { folder }) };
}

/** Where a skill is taken from: a folder, an archive, an https address or a git repository. */
export function parseSkillSource(given: string, { cwd, home }: { readonly cwd: string; readonly home: string }): SkillSource {
  const text = given.trim();
  if (text === "" || text.includes("\0")) throw wrong("expected a folder, an archive, an https URL or a git repository");
  const { base, ref, folder } = splitFragment(text);
  const git = gitAddress(base);
  if (git !== undefined) return { kind: "git", url: git, ref, folder };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(base) && !/^file:/i.test(base)) {
    if (!/^https:\/\//i.test(base) || !URL.canParse(base))
      throw wrong(`${JSON.stringify(base)} is not supported: expected https://, git+https://, ssh:// or a path`);
    if (ref !== undefined) throw wrong("#ref needs a git repository: write git+https://… or a URL that ends in .git");
    return { kind: "url", url: base, folder };
  }
  const path = resolve(cwd, expandHome(base.replace(/^file:(?:\/\/)?/i, ""), home));
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new AppError("NOT_FOUND", `${path} does not exist; use a folder, an archive, an https URL or a git repository`);
  if (ref !== undefined) {
    if (!stat.isDirectory() || !(existsSync(join(path, ".git")) || existsSync(join(path, "HEAD"))))
      throw wrong(`#${ref} needs a git repository; ${path} is not one`);
    return { kind: "git", url: path, ref, folder };
  }
  if (stat.isDirectory()) return { kind: "folder", path, folder };
  if (stat.isFile() && isArchive(path)) return { kind: "archive", path, folder };
  throw wrong(`${path} cannot be installed: expected a folder with a SKILL.md, or a .zip, .tgz, .tar.gz or .tar archive of one`);
}

/** The address that git takes; undefined for what is no repository. */
function gitAddress(base: string): string | undefined {
  const [, url] = /^git\+((?:https|ssh|file):\/\/.+)$/i.exec(base) ?? [];
  if (url !== undefined) return url;
  if (/^ssh:\/\//i.test(base) || SCP_FORM.test(base)) return base;
  if (!/^https:\/\//i.test(base) || !URL.canParse(base)) return undefined;
  const { hostname, pathname } = new URL(base);
  const isRepository = pathname.endsWith(".git") || (GIT_HOSTS.test(hostname) && /^\/[^/]+\/[^/]+\/?$/.test(pathname) && !isArchive(pathname));
  return isRepository ? base : undefined;
}
