/** Writes the beginning of a plugin: files that load, with tests that pass. */
import { existsSync, lstatSync, mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { AppError, fileError } from "../../base/errors.ts";
import { nearest } from "../../base/text.ts";
import { isPluginId } from "../inventory/plugin-id.ts";
import { filesOf } from "./files.ts";
import { TEMPLATES, type Template } from "./templates.ts";

export { TEMPLATES, type Template };

export interface CreateRequest {
  readonly folder: string;
  /** Default: the folder's name. */
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly template?: string | undefined;
  /** JavaScript instead of TypeScript. */
  readonly js?: boolean | undefined;
  /** Folder of the host's package, to which the plugin's `node_modules/openclaw` leads. */
  readonly hostRoot: string;
  readonly hostVersion: string;
}

export interface CreateResult {
  readonly folder: string;
  readonly id: string;
  readonly template: Template;
  /** Files that were written, relative to the folder; none when there was a plugin already and only the link was renewed. */
  readonly files: readonly string[];
  readonly link: string;
}

/** Writes a plugin into a new or empty folder. In one that has a plugin only the link to the host is renewed. */
export function createPlugin({ folder, id, name, template = "tool", js = false, hostRoot, hostVersion }: CreateRequest): CreateResult {
  const root = resolve(folder);
  const chosen = templateOf(template);
  const link = join(root, "node_modules", "openclaw");
  try {
    if (existsSync(join(root, "openclaw.plugin.json"))) {
      linkHost(link, hostRoot);
      return { folder: root, id: id ?? basename(root), template: chosen, files: [], link };
    }
    const own = checkedId(id ?? basename(root));
    const there = existsSync(root) ? readdirSync(root).filter((item) => item !== ".git") : [];
    if (there.length > 0) throw new AppError("CONFLICT", `${root} is not empty: it has ${there.slice(0, 3).join(", ")}; choose a new folder`);
    const files = filesOf({ id: own, name: name ?? titleOf(own), template: chosen, js, hostVersion });
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content, { flag: "wx" });
    }
    linkHost(link, hostRoot);
    return { folder: root, id: own, template: chosen, files: Object.keys(files), link };
  } catch (error) {
    throw fileError(root, "could not create the plugin", error);
  }
}

const isTemplate = (given: string): given is Template => Object.hasOwn(TEMPLATES, given);

function templateOf(given: string): Template {
  if (isTemplate(given)) return given;
  const names = Object.keys(TEMPLATES);
  const close = nearest(given, names);
  throw new AppError(
    "INVALID_INPUT",
    `there is no template ${JSON.stringify(given)}${close === undefined ? "" : `; did you mean "${close}"?`}; available: ${names.join(", ")}`,
  );
}

function checkedId(id: string): string {
  if (isPluginId(id) && /^[a-z0-9][a-z0-9-]*$/.test(id)) return id;
  throw new AppError(
    "INVALID_INPUT",
    `${JSON.stringify(id)} cannot be the id of a new plugin: expected lower-case letters, digits and "-", as in "voice-notes"; set one with --id`,
  );
}

const titleOf = (id: string): string =>
  id
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");

/** Lets the plugin's tests and its author's editor find `openclaw/plugin-sdk`. */
function linkHost(link: string, hostRoot: string): void {
  mkdirSync(dirname(link), { recursive: true });
  const there = lstatSync(link, { throwIfNoEntry: false });
  if (there && !there.isSymbolicLink()) throw new AppError("CONFLICT", `${link} is a separate folder; remove it, then run this again`);
  if (there) rmSync(link);
  symlinkSync(realpathSync(hostRoot), link, "junction");
}
