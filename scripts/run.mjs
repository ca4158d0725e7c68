// One entry for every npm script. Plain JavaScript for Node 20 without dependencies: it is what installs them.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const { ROOT, pinnedNode, currentIsEnough, gatewayFlags } = createRequire(import.meta.url)("./runtime.cjs");
const quiet = process.env.npm_config_loglevel === "silent";

function say(text) {
  if (!quiet) process.stderr.write(`${text}\n`);
}

/** Runs a child to its end. Signals reach it; its exit code is ours to pass on. */
function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: "inherit", ...options });
    const forward = (signal) => () => void child.kill(signal);
    // A terminal's Ctrl-C already reaches the whole process group: wait for the child instead of dying before it.
    const handlers = { SIGINT: process.stdin.isTTY ? () => {} : forward("SIGINT"), SIGTERM: forward("SIGTERM"), SIGHUP: forward("SIGHUP") };
    for (const [signal, handler] of Object.entries(handlers)) process.on(signal, handler);
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      for (const [name, handler] of Object.entries(handlers)) process.off(name, handler);
      resolve(signal ? 1 : code);
    });
  });
}

async function progress(label, work) {
  const started = Date.now();
  const seconds = () => `${Math.round((Date.now() - started) / 1000)} s`;
  const tty = process.stderr.isTTY && !quiet;
  if (!tty) say(`${label} …`);
  const timer = tty ? setInterval(() => process.stderr.write(`\r${label} … ${seconds()} `), 200) : undefined;
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (tty) process.stderr.write(`\r${label}: ${seconds()}   \n`);
  }
}

const STAMP = join(ROOT, "node_modules", ".openclaw-installed");
const lockHash = () =>
  createHash("sha256")
    .update(readFileSync(join(ROOT, "package-lock.json")))
    .digest("hex");

/** Installs what package-lock.json asks for, when node_modules was not made from it. */
async function install() {
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === lockHash()) return;
  const chunks = [];
  const code = await progress("installing dependencies and the pinned runtime", () => {
    const windows = process.platform === "win32";
    return new Promise((resolve, reject) => {
      // A production setting around us must not leave out what builds the product.
      const args = ["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"];
      const child = spawn(windows ? "npm.cmd" : "npm", args, { cwd: ROOT, shell: windows, stdio: ["ignore", "pipe", "pipe"] });
      child.stdout.on("data", (chunk) => chunks.push(chunk));
      child.stderr.on("data", (chunk) => chunks.push(chunk));
      child.on("error", reject);
      child.on("exit", resolve);
    });
  });
  if (code !== 0) {
    process.stderr.write(Buffer.concat(chunks));
    say("npm ci failed. It needs the npm registry and nothing else: check the network or proxy settings and run this again.");
    process.exit(code || 1);
  }
  writeFileSync(STAMP, lockHash());
}

function node() {
  const found = pinnedNode() ?? (currentIsEnough() ? process.execPath : undefined);
  if (found) return found;
  say(`No pinned runtime exists for ${process.platform}-${process.arch} and this is Node ${process.version}: install Node 24 or newer and run this again.`);
  return process.exit(1);
}

function* files(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else yield path;
  }
}

/** What the bundle is made from: a change of any of these makes it stale. */
function sourceHash() {
  const hash = createHash("sha256").update(process.platform + process.arch);
  for (const path of [...files(join(ROOT, "src")), ...files(join(ROOT, "ui")), ...files(join(ROOT, "scripts")), join(ROOT, "package-lock.json")]) {
    if (path.endsWith(".test.ts")) continue;
    const { size, mtimeMs } = statSync(path);
    hash.update(`${path}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

/** Builds `dist` (release) or `dist-test` (with failpoints) when the sources are newer. */
async function build(folder) {
  const stamp = join(ROOT, folder, ".sources");
  const hash = sourceHash();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return;
  const code = await run(node(), ["scripts/build.ts", folder]);
  if (code !== 0) process.exit(code);
  mkdirSync(join(ROOT, folder), { recursive: true });
  writeFileSync(stamp, hash);
}

const tool = (name) => join(ROOT, "node_modules", ...name.split("/"));
const TOOLS = {
  tsc: tool("typescript/bin/tsc"),
  oxlint: tool("oxlint/bin/oxlint"),
  oxfmt: tool("oxfmt/bin/oxfmt"),
  knip: tool("knip/bin/knip.js"),
  vitest: tool("vitest/vitest.mjs"),
};

async function steps(list) {
  for (const [name, ...args] of list) {
    const started = Date.now();
    const code = await run(node(), args);
    say(`check: ${name} ${code === 0 ? "ok" : "FAILED"} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
    if (code !== 0) return code;
  }
  return 0;
}

async function vitest(args) {
  await build("dist");
  await build("dist-test");
  if (args.length === 0 || args.some((arg) => arg.includes("ui"))) await run(node(), ["scripts/test-browser.ts"]);
  return run(node(), [TOOLS.vitest, "run", ...args], { env: { ...process.env, OPENCLAW_TEST_NODE: node() } });
}

/** The same files N times in a row, to find what depends on luck. */
async function repeat(args) {
  const at = args.indexOf("--times");
  const times = at < 0 ? 20 : Number(args.splice(at, 2)[1]);
  for (let round = 1; round <= times; round += 1) {
    say(`round ${round} of ${times}`);
    const code = await vitest(args);
    if (code !== 0) return code;
  }
  return 0;
}

const COMMANDS = {
  async start(args) {
    await build("dist");
    // `npm start -- --no-open` leaves the browser alone.
    const flags = args.includes("--no-open") ? args.filter((arg) => arg !== "--no-open") : ["--open", ...args];
    return run(node(), [...gatewayFlags(node()), join("bin", "openclaw"), "gateway", "--allow-unconfigured", ...flags]);
  },
  test: vitest,
  "test:repeat": repeat,
  async build() {
    await build("dist");
    return run(node(), ["scripts/sdk-types.ts"]);
  },
  check: () =>
    steps([
      ["layers", "scripts/lint-rules.ts"],
      ["format", TOOLS.oxfmt, "--check"],
      ["words", "scripts/words.ts"],
      ["texts of the page", "scripts/page-texts.ts"],
      ["lint", TOOLS.oxlint, "--type-aware", "--deny-warnings"],
      ["types", TOOLS.tsc, "-p", "."],
      ["types of the page", TOOLS.tsc, "-p", "ui"],
      ["unused", TOOLS.knip],
      ["protocol docs", "scripts/protocol-export.ts", "--check"],
      ["plugin API", "scripts/api-report.ts", "--check"],
      ["hooks docs", "scripts/hooks-page.ts", "--check"],
      ["hooks called", "scripts/hook-coverage.ts"],
    ]),
  fmt: () =>
    steps([
      ["layers", "scripts/lint-rules.ts"],
      ["format", TOOLS.oxfmt],
    ]),
  async bench(args) {
    await build("dist");
    return run(node(), ["bench/run.ts", ...args]);
  },
  async compare(args) {
    await build("dist");
    return run(node(), ["bench/compare.ts", ...args]);
  },
  modules: (args) => run(node(), ["scripts/modules.ts", ...args]),
  walk: (args) => run(node(), ["scripts/walk.ts", ...args]),
  async fuzz(args) {
    await build("dist");
    return run(node(), ["test/fuzz/campaign.ts", ...args]);
  },
  async "plugins:real"(args) {
    await build("dist");
    return run(node(), ["scripts/plugins-real.ts", ...args]);
  },
  async "ui:shots"(args) {
    await build("dist");
    await build("dist-test");
    return run(node(), ["scripts/ui-shots.ts", ...args]);
  },
  async mutants(args) {
    await build("dist");
    await build("dist-test");
    return run(node(), ["scripts/mutants.ts", ...args]);
  },
  faults: (args) => run(node(), ["test/faults/campaign.ts", ...args]),
  async chaos(args) {
    await build("dist-test");
    return run(node(), ["test/chaos/campaign.ts", ...args]);
  },
};

const [name, ...args] = process.argv.slice(2);
const command = COMMANDS[name];
if (!command) {
  say(`unknown script ${name ?? ""}; one of ${Object.keys(COMMANDS).join(", ")}`);
  process.exit(2);
}
await install();
process.exit(await command(args));
