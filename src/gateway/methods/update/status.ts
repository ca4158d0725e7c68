import { realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { shellQuote } from "../../../base/text.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { openCheckout, textOf } from "./checkout.ts";

type Status = MethodResult<"update.status">;

/** The program, as it was installed. */
export interface ProgramDeps {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder of the program; undefined where it is not known. */
  readonly root: string | undefined;
  /** Folder of the build that runs. */
  readonly build: string | undefined;
  /** When this gateway was opened; a restart is later. */
  readonly startedAtMs: () => number;
  readonly runnable?: ((text: string) => string) | undefined;
}

const ENTRIES = 3;

/** A build has a folder of its own, and `dist` is a link to the newest. */
async function isStale({ root, build }: ProgramDeps): Promise<boolean> {
  if (root === undefined || build === undefined) return false;
  const newest = await realpath(join(root, "dist")).catch(() => undefined);
  return newest !== undefined && newest !== (await realpath(build).catch(() => newest));
}

async function versionOnDisk(root: string): Promise<string | null> {
  try {
    const { version } = JSON.parse((await textOf(join(root, "package.json"))) ?? "") as { readonly version?: unknown };
    return typeof version === "string" ? version : null;
  } catch {
    return null;
  }
}

/** What a changelog says about a version. */
interface ChangelogEntry {
  readonly version: string;
  readonly text: string;
}

const HEADING = /^## \[?([^\]\s]+)\]?.*$/gm;

/** The newest entries of a changelog in the form of Keep a Changelog. */
function newestChanges(text: string, most: number): readonly ChangelogEntry[] {
  const heads = [...text.matchAll(HEADING)];
  return heads
    .slice(0, most)
    .map((head, index) => ({ version: head[1] ?? "", text: text.slice(head.index + head[0].length, heads[index + 1]?.index).trim() }))
    .filter((entry) => entry.text !== "");
}

/** What is known without asking another machine. */
export async function readStatus(deps: ProgramDeps, problem: string | null): Promise<Status> {
  const { root, env, version } = deps;
  const runnable = deps.runnable ?? ((text: string) => text);
  const isService = Boolean(env["OPENCLAW_SERVICE_MARKER"]);
  const git = root === undefined ? undefined : await openCheckout(root, env).read();
  const changelog = root === undefined ? undefined : await textOf(join(root, "CHANGELOG.md"));
  // A package has no scripts; it was not started with npm.
  const isPackage = root === undefined || root.split(sep).includes("node_modules");
  const restart = runnable(isService ? "openclaw gateway restart" : `openclaw gateway stop && ${isPackage ? "openclaw gateway" : "npm start"}`);
  const enter = root === undefined ? undefined : `cd ${/^[\w./-]+$/.test(root) ? root : shellQuote(root)}`;
  const commands = git && enter !== undefined ? [enter, "git pull --ff-only", "npm run build", restart] : [];
  // What is named by a path of the checkout works in its folder only.
  const restartCommand = enter !== undefined && /\bbin\/openclaw |\bnpm start\b/.test(restart) ? `${enter} && ${restart}` : restart;
  return {
    version,
    node: process.versions.node,
    startedAtMs: deps.startedAtMs(),
    install: git ? "checkout" : "package",
    root: root ?? null,
    onDisk: root === undefined ? null : await versionOnDisk(root),
    isStale: await isStale(deps),
    isService,
    git: git ?? null,
    changes: changelog === undefined ? [] : newestChanges(changelog, ENTRIES).map((entry) => ({ ...entry })),
    commands,
    restartCommand,
    problem,
  };
}

/** The same after a fetch. */
export async function checkForUpdates(deps: ProgramDeps): Promise<Status> {
  if (deps.root === undefined) return readStatus(deps, null);
  const checkout = openCheckout(deps.root, deps.env);
  const upstream = (await checkout.read())?.upstream ?? null;
  if (upstream === null) return readStatus(deps, "This is not a git checkout with an upstream, so newer versions cannot be checked.");
  return readStatus(deps, (await checkout.fetch()) ?? null);
}
