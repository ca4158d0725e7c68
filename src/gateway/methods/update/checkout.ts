import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../../base/errors.ts";
import { run } from "../../../base/spawn.ts";
import type { MethodResult } from "../../../protocol/index.ts";

type Git = NonNullable<MethodResult<"update.status">["git"]>;

const LOCAL_MS = 10_000;
const FETCH_MS = 60_000;
const MOST_BYTES = 1_000_000;
const MOST_INCOMING = 50;

export interface Checkout {
  /** Undefined when it is none, or git is not installed. */
  read(): Promise<Git | undefined>;
  /** Asks the upstream. Resolves with what went wrong, if something did. */
  fetch(): Promise<string | undefined>;
}

/** A folder under version control. Git asks nobody for a password and runs no hook of the checkout. */
export function openCheckout(root: string, env: Readonly<Record<string, string | undefined>>): Checkout {
  const own = { PATH: env["PATH"], HOME: env["HOME"], SSH_AUTH_SOCK: env["SSH_AUTH_SOCK"], GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" };
  const git = (args: readonly string[], timeoutMs = LOCAL_MS) =>
    run("git", {
      args: ["-C", root, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", ...args],
      env: own,
      timeoutMs,
      maxOutputBytes: MOST_BYTES,
    });

  /** The first line of what a command writes; undefined when it fails. */
  async function line(...args: readonly string[]): Promise<string | undefined> {
    const { code, stdout } = await git(args).catch(() => ({ code: 1, stdout: "" }));
    return code === 0 ? stdout.trim() : undefined;
  }

  return {
    async read() {
      if ((await line("rev-parse", "--show-prefix")) !== "") return undefined;
      const [head, branch, upstream, changed] = await Promise.all([
        line("log", "-1", "--format=%H%n%s"),
        line("symbolic-ref", "--short", "-q", "HEAD"),
        line("rev-parse", "--abbrev-ref", "--symbolic-full-name", "@{upstream}"),
        line("status", "--porcelain", "--untracked-files=no"),
      ]);
      if (head === undefined) return undefined;
      const [commit = "", subject = ""] = head.split("\n");
      const counted = upstream === undefined ? undefined : await line("rev-list", "--left-right", "--count", "HEAD...@{upstream}");
      const [ahead, behind] = counted?.split(/\s+/).map(Number) ?? [];
      const incoming = behind ? await line("log", `--max-count=${MOST_INCOMING}`, "--format=%s", "HEAD..@{upstream}") : "";
      const fetched = await line("rev-parse", "--git-path", "FETCH_HEAD");
      const at = fetched === undefined ? undefined : await stat(join(root, fetched)).catch(() => stat(fetched).catch(() => undefined));
      return {
        branch: branch ?? null,
        commit,
        subject,
        dirty: (changed ?? "") !== "",
        upstream: upstream ?? null,
        behind: behind ?? null,
        ahead: ahead ?? null,
        fetchedAtMs: at?.mtimeMs ?? null,
        incoming: incoming ? incoming.split("\n") : [],
      };
    },
    async fetch() {
      try {
        const { code, stderr } = await git(["fetch", "--quiet", "--no-recurse-submodules"], FETCH_MS);
        return code === 0 ? undefined : `git fetch failed: ${stderr.trim().split("\n").at(-1) ?? `exit code ${code}`}`;
      } catch (error) {
        return `git fetch failed: ${messageOf(error)}`;
      }
    },
  };
}

/** The text of a file; undefined when it cannot be read. */
export const textOf = (path: string): Promise<string | undefined> => readFile(path, "utf8").catch(() => undefined);
