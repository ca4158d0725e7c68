/** Programs that tests need and a machine may lack. */
import { spawnSync } from "node:child_process";
import type { TestContext } from "vitest";

const succeeds = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: "ignore", timeout: 180_000, env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } }).status === 0;

/** Installs one of Debian's packages. False where that cannot be done: no root, no Debian, no network. */
export function installPackage(name: string): boolean {
  if (process.getuid?.() !== 0 || !succeeds("apt-get", "--version")) return false;
  const args = ["-o", "DPkg::Lock::Timeout=120", "install", "-y", "-qq", "--no-install-recommends", name];
  return succeeds("apt-get", ...args) || (succeeds("apt-get", "update", "-qq") && succeeds("apt-get", ...args));
}

const isThere = (program: string): boolean => spawnSync("which", [program], { stdio: "ignore" }).status === 0;

/** Skips a test, with the reason, where `program` is missing and cannot be installed from its package. */
export function needProgram(context: TestContext, program: string, packageName = program): void {
  context.skip(!isThere(program) && !installPackage(packageName), `needs ${program}, as root on Debian: apt-get install ${packageName}`);
}
