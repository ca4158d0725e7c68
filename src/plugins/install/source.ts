import { statSync, type Stats } from "node:fs";
import { resolve } from "node:path";
import { AppError, fileError, systemCode } from "../../base/errors.ts";
import { expandHome } from "../../config/index.ts";
import { isArchive } from "./unpack/index.ts";

/** What the user named. */
export type Source =
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "archive"; readonly path: string }
  /** `name`, `name@1.2.3` or `name@tag`. */
  | { readonly kind: "npm"; readonly spec: string; readonly name: string };

const NPM = /^((?:@[a-z0-9~_-][a-z0-9._~-]*\/)?[a-z0-9~_-][a-z0-9._~-]*)(?:@([\w.^~+-]+))?$/i;
/** Addresses and repositories as other tools take them; `file:` is a path. */
const ADDRESS = /^(?:(?!file:)[a-z][a-z0-9+.-]*:\/\/|git@|(?:github|gitlab|bitbucket|git):)/i;
const LOOSE = /\.[mc]?[tj]s$/;

/** What is at a path; undefined when nothing can be there. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (systemCode(error) === "ENOTDIR") return undefined;
    throw fileError(path, "could not look for the plugin", error);
  }
}

/** Where a plugin is to be taken from: a path that exists, else a package of the registry. `npm:`, `npm-pack:` and `file:` say which is meant. */
export function parseSource(given: string, { cwd, home }: { readonly cwd: string; readonly home: string }): Source {
  const text = given.trim();
  const [, prefix, rest] = /^(npm-pack|npm|file):(.*)$/i.exec(text) ?? [undefined, undefined, text];
  if (rest === undefined || rest === "" || rest.includes("\0"))
    throw new AppError("INVALID_INPUT", "expected a path, an archive or the name of an npm package");
  if (prefix?.toLowerCase() === "npm") return npmSource(rest);
  if (ADDRESS.test(text)) {
    throw new AppError(
      "INVALID_INPUT",
      `${JSON.stringify(text)} is a URL; plugins are installed from a folder, an archive (.tgz, .tar.gz, .tar, .zip) or the npm registry: download it first, then pass the file`,
    );
  }
  const path = resolve(cwd, expandHome(rest.replace(/^\/\/(?=\/)/, ""), home));
  const stat = statOf(path);
  if (stat?.isDirectory()) return { kind: "folder", path };
  if (stat?.isFile()) {
    if (isArchive(path)) return { kind: "archive", path };
    if (LOOSE.test(path)) return { kind: "file", path };
    throw new AppError("INVALID_INPUT", `${path} cannot be installed: expected a folder, a .zip, .tgz, .tar.gz or .tar archive, or a .ts or .js file`);
  }
  if (prefix !== undefined || looksLikePath(rest)) throw new AppError("NOT_FOUND", `${path} does not exist; use a folder, an archive, or an npm package`);
  return npmSource(rest);
}

function looksLikePath(text: string): boolean {
  return /^[.~/\\]|^[A-Za-z]:[\\/]/.test(text) || isArchive(text) || LOOSE.test(text);
}

function npmSource(spec: string): Source {
  const name = NPM.exec(spec)?.[1];
  if (name === undefined || spec.includes("..")) {
    throw new AppError(
      "INVALID_INPUT",
      `${JSON.stringify(spec)} is not a package of the npm registry: expected name, name@version or name@tag; URLs and repositories are not supported`,
    );
  }
  return { kind: "npm", spec, name };
}
