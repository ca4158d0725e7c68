import { spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, readFileSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, type TestContext } from "vitest";
import { installPackage } from "./packages.ts";

const NOBODY = 65_534;

/** Runs what follows as a user without rights: root may read and write everything, so nothing is refused to it. */
export const AS_NOBODY: readonly string[] = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];

const succeeds = (command: string, ...args: string[]): boolean => spawnSync(command, args, { stdio: "ignore", timeout: 120_000 }).status === 0;
const isRoot = (): boolean => process.getuid?.() === 0;

/** Skips the test, saying why, where another user's rights cannot be tried out. */
export function needNobody(context: TestContext): void {
  context.skip(!isRoot(), "needs root, to become a user without rights");
  context.skip(!succeeds(AS_NOBODY[0]!, ...AS_NOBODY.slice(1), process.execPath, "-e", "0"), "needs setpriv, and a checkout that other users may read");
}

export function giveToNobody(...paths: string[]): void {
  for (const path of paths) chownSync(path, NOBODY, NOBODY);
}

/** Whether system calls of processes can be watched here; what that needs is installed where it can be. */
export function canTrace(): boolean {
  return process.platform === "linux" && (succeeds("strace", "-V") || installPackage("strace")) && succeeds("strace", "-o", "/dev/null", "true");
}

/** Skips the test, saying why, where system calls cannot be made to fail. */
export function needStrace(context: TestContext): void {
  context.skip(process.platform !== "linux", "needs Linux, for strace");
  context.skip(!succeeds("strace", "-V") && !installPackage("strace"), "needs strace: apt-get install strace");
  context.skip(!succeeds("strace", "-o", "/dev/null", "true"), "needs the right to trace processes (ptrace)");
}

/** Skips the test, saying why, where commands cannot be put into namespaces of their own. */
export function needBwrap(context: TestContext): void {
  context.skip(process.platform !== "linux", "needs Linux, for bubblewrap");
  context.skip(!succeeds("bwrap", "--version") && !installPackage("bubblewrap"), "needs bubblewrap: apt-get install bubblewrap");
  context.skip(!succeeds("bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "true"), "needs the right to make user namespaces");
}

/** Skips the test, saying why, where no IRC server can be run. */
export function needNgircd(context: TestContext): void {
  const isThere = (): boolean => succeeds("ngircd", "--version") || succeeds("/usr/sbin/ngircd", "--version");
  context.skip(!isThere() && !installPackage("ngircd"), "needs an IRC server: apt-get install ngircd");
}

export interface Tmpfs extends Disposable {
  readonly path: string;
  resize(size: string): void;
  readOnly(): void;
}

function mount(...args: string[]): void {
  const { status, stderr } = spawnSync("mount", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`mount ${args.join(" ")}: ${stderr}`);
}

/** Skips the test, saying why, where no file system can be mounted. */
export function needMounts(context: TestContext): void {
  context.skip(!isRoot() || process.platform !== "linux", "needs root on Linux, to mount a small file system");
  try {
    using _ = mountTmpfs("64k");
  } catch (error) {
    context.skip(true, `needs the right to mount: ${String(error)}`);
  }
}

/** A file system of its own, as small as a test wants it. Gone at the end. */
export function mountTmpfs(size: string): Tmpfs {
  const path = mkdtempSync(join(tmpdir(), "openclaw-disk-"));
  try {
    mount("-t", "tmpfs", "-o", `size=${size},mode=700`, "tmpfs", path);
  } catch (error) {
    rmdirSync(path);
    throw error;
  }
  return {
    path,
    resize: (to) => mount("-o", `remount,size=${to}`, path),
    readOnly: () => mount("-o", "remount,ro", path),
    [Symbol.dispose]() {
      if (!succeeds("umount", path)) succeeds("umount", "-l", path);
      rmdirSync(path);
    },
  };
}

export interface Fault {
  /** What runs the process to be disturbed: it stays the direct child, so that its signals and exit code are its own. */
  readonly wrap: readonly string[];
  /** The calls on the chosen files, in order, once the process has ended. */
  calls(pid: number | undefined): Promise<readonly string[]>;
}

/**
 * Makes system calls on some files fail or wait.
 * @param inject as strace takes it: `fsync:error=EIO:when=10+`
 * @param paths only calls on these files count; they need not exist yet
 */
export function disturb(inject: string, paths: readonly string[]): Fault {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-strace-"));
  const output = join(folder, "calls");
  const calls = "trace=fsync,fdatasync,pwrite64,pwritev,ftruncate";
  return {
    wrap: [
      "strace",
      "-D",
      "-f",
      "-q",
      "-y",
      "-s",
      "0",
      "-o",
      output,
      "-e",
      calls,
      "-e",
      "signal=none",
      "-e",
      `inject=${inject}`,
      ...paths.flatMap((path) => ["-P", path]),
    ],
    async calls(pid) {
      // The tracer ends a moment after what it traced.
      const read = (): string[] => readFileSync(output, "utf8").split("\n");
      const ended = new RegExp(`^${pid} +\\+\\+\\+ (?:exited with|killed by)`);
      await expect.poll(() => read().some((line) => ended.test(line))).toBe(true);
      return read().filter((line) => /^\d+ +\w+\(/.test(line));
    },
  };
}
