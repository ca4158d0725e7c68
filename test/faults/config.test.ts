import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync, chmodSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { seededRandom } from "../../src/base/random.ts";
import { fingerprint } from "../harness/fingerprint.ts";
import { makePlace, ROOT, type Place } from "../harness/gateway-process.ts";
import { fill } from "../harness/full-disk.ts";
import { AS_NOBODY, disturb, giveToNobody, mountTmpfs, needMounts, needNobody, needStrace } from "../harness/privileges.ts";
import { killAt, runCommand } from "../harness/program.ts";

const GOOD = `{\n  // the one that works\n  gateway: { mode: "local" },\n  logging: { level: "debug" },\n}\n`;

interface Broken {
  readonly what: string;
  readonly arrange: (place: Place) => void;
  /** What every way to meet the file must say. */
  readonly says: RegExp;
}

const text =
  (content: string) =>
  (place: Place): void =>
    place.configure(content);

const BROKEN: readonly Broken[] = [
  { what: "malformed", arrange: text(`{\n  gateway: { mode: "local" },,\n}\n`), says: /openclaw\.json:2:30: <root>: .*,/ },
  { what: "cut off in the middle", arrange: text(GOOD.slice(0, -6)), says: /openclaw\.json:\d+:\d+: .*end/i },
  { what: "empty", arrange: text(""), says: /openclaw\.json:1:1: <root>: / },
  {
    what: "binary",
    arrange: (place) => writeFileSync(place.configPath, Buffer.from(Array.from({ length: 4096 }, (_, n) => (n * 151) % 256))),
    says: /openclaw\.json:\d+:\d+: <root>: /,
  },
  {
    what: "of 100 MB",
    arrange(place) {
      place.configure(GOOD);
      truncateSync(place.configPath, 100 * 1024 * 1024);
    },
    says: /openclaw\.json is 100 MB; a configuration has at most 10 MB; check that the path names the right file/,
  },
  {
    what: "a named pipe",
    arrange: (place) => expect(spawnSync("mkfifo", [place.configPath]).status).toBe(0),
    says: /openclaw\.json is not a regular file; use one/,
  },
  { what: "a folder", arrange: (place) => mkdirSync(place.configPath), says: /openclaw\.json is a folder; use a file/ },
  {
    what: "including itself in a circle",
    arrange(place) {
      place.configure(`{\n  gateway: { mode: "local" },\n  logging: { $include: "./a.json5" },\n}\n`);
      writeFileSync(join(place.home, "a.json5"), `{\n  $include: "./b.json5",\n}\n`);
      writeFileSync(join(place.home, "b.json5"), `{ $include: "./a.json5" }\n`);
    },
    says: /b\.json5:1:\d+: logging: Circular include detected: .*a\.json5 -> .*b\.json5 -> .*a\.json5/,
  },
  {
    what: "including a file outside of its folder",
    arrange: text(`{\n  gateway: { mode: "local" },\n  logging: { $include: "../outside.json5" },\n}\n`),
    says: /openclaw\.json:3:\d+: logging: Include path escapes config directory: \.\.\/outside\.json5/,
  },
  {
    what: "including a link that leads outside of its folder",
    arrange(place) {
      place.configure(`{\n  gateway: { mode: "local" },\n  logging: { $include: "./link.json5" },\n}\n`);
      symlinkSync("/etc/hostname", join(place.home, "link.json5"));
    },
    says: /openclaw\.json:3:\d+: logging: Include path resolves outside config directory \(symlink\): \.\/link\.json5/,
  },
  {
    what: "asking for a variable that is not set",
    arrange: text(`{\n  gateway: { mode: "local", auth: { token: "\${NO_SUCH_VARIABLE}" } },\n}\n`),
    says: /openclaw\.json:2:\d+: gateway\.auth\.token: .*NO_SUCH_VARIABLE/,
  },
  {
    what: "giving a text where a number belongs",
    arrange: text(`{\n  gateway: {\n    mode: "local",\n    port: "many",\n  },\n}\n`),
    says: /openclaw\.json:4:\d+: gateway\.port: .*number/,
  },
];

async function stopped(place: Place): Promise<void> {
  const gateway = await place.gateway();
  expect(gateway.url, gateway.output()).toBeDefined();
  await expect.poll(() => existsSync(join(place.stateDir, "config.last-good.json"))).toBe(true);
  gateway.child.kill("SIGTERM");
  expect((await gateway.exited).code).toBe(0);
}

test.each(BROKEN)(
  "a broken configuration ($what) is refused with its place by validate and by a first start, and neither changes anything",
  ({ arrange, says }) => {
    const place = makePlace();
    arrange(place);
    const before = fingerprint(place.home);
    const validated = place.cli("config", "validate");
    expect([validated.code, validated.stdout]).toEqual([1, expect.stringMatching(says)]);
    const started = place.cli("gateway", "--port", "0", "--allow-unconfigured");
    expect([started.code, started.stderr]).toEqual([1, expect.stringMatching(says)]);
    expect(`${validated.stderr}${started.stderr}`).not.toContain("defect");
    const status = place.cli("status", "--json");
    expect([status.code, JSON.parse(status.stdout)]).toEqual([0, expect.objectContaining({ config: expect.objectContaining({ valid: false }) })]);
    expect(JSON.parse(status.stdout).config.issues.join("\n")).toMatch(says);
    expect(fingerprint(place.home)).toEqual(before);
  },
);

test("whatever has become of the configuration, a gateway that ran before starts on the last good one and says so in health", { timeout: 60_000 }, async () => {
  const place = makePlace();
  place.configure(GOOD);
  await stopped(place);
  const kept = fingerprint(join(place.stateDir, "config.last-good.json"));
  for (const { what, arrange, says } of BROKEN) {
    for (const name of readdirSync(place.home)) if (/json5?$/.test(name)) rmSync(join(place.home, name), { recursive: true });
    arrange(place);
    const broken = fingerprint(place.configPath);
    await using gateway = await place.gateway();
    expect(gateway.url, `${what}:\n${gateway.output()}`).toBeDefined();
    expect(gateway.output()).toContain("running on the last good configuration");
    const { health } = JSON.parse(place.cli("status", "--json").stdout);
    expect(health, what).toMatchObject({ ok: true, status: "degraded", config: { source: "last-good" } });
    expect(health.problems.join("\n")).toMatch(says);
    gateway.child.kill("SIGTERM");
    expect((await gateway.exited).code, what).toBe(0);
    expect(fingerprint(place.configPath), what).toEqual(broken);
    expect(fingerprint(join(place.stateDir, "config.last-good.json")), what).toEqual(kept);
  }
});

test("a configuration cut off anywhere is refused with a line and a column, or is a whole one that was meant", () => {
  const place = makePlace();
  const whole = readFileSync(join(ROOT, "test/fixtures/config/large-600.json5"));
  const random = seededRandom(7);
  for (let n = 0; n < 12; n += 1) {
    const length = 1 + Math.floor(random.float() * (whole.length - 1));
    writeFileSync(place.configPath, whole.subarray(0, length));
    const { code, stdout, stderr } = place.cli("config", "validate");
    expect([code, stderr], `cut at ${length}`).toEqual([1, ""]);
    expect(stdout, `cut at ${length}`).toMatch(/openclaw\.json:\d+:\d+: /);
  }
});

test("a configuration of 100 MB is refused without reading it into memory", () => {
  const place = makePlace();
  const nodeArguments = ["--import", "data:text/javascript,process.on('exit',()=>process.stderr.write(`peak ${process.resourceUsage().maxRSS}`))"];
  const peak = (): number => Number(/peak (\d+)/.exec(runCommand(place, ["config", "validate"], { nodeArguments }).stderr)?.[1]);
  place.configure(GOOD);
  const small = peak();
  truncateSync(place.configPath, 100 * 1024 * 1024);
  expect(peak() - small).toBeLessThan(20 * 1024);
});

test("a configuration this user may not read is named with what to do, and is not touched", async (context) => {
  needNobody(context);
  const place = makePlace();
  place.configure(GOOD);
  chmodSync(place.configPath, 0o000);
  giveToNobody(place.home);
  const says = /openclaw\.json may not be accessed by this user; check its owner and mode/;
  const validated = runCommand(place, ["config", "validate"], { wrap: AS_NOBODY });
  expect([validated.code, validated.stdout]).toEqual([1, expect.stringMatching(says)]);
  const started = runCommand(place, ["gateway", "--port", "0"], { wrap: AS_NOBODY });
  expect([started.code, started.stderr]).toEqual([1, expect.stringMatching(says)]);
  expect(JSON.parse(runCommand(place, ["status", "--json"], { wrap: AS_NOBODY }).stdout).config.issues.join()).toMatch(says);
  expect([readFileSync(place.configPath, "utf8"), statSync(place.configPath).mode & 0o777]).toEqual([GOOD, 0o000]);
});

test("a configuration that became unreadable gives way to the last good one", async (context) => {
  needNobody(context);
  const place = makePlace();
  place.configure(GOOD);
  giveToNobody(place.home, place.configPath);
  const first = await place.gateway({ wrap: AS_NOBODY });
  await expect.poll(() => existsSync(join(place.stateDir, "config.last-good.json"))).toBe(true);
  first.child.kill("SIGTERM");
  await first.exited;
  chmodSync(place.configPath, 0o000);
  await using second = await place.gateway({ wrap: AS_NOBODY });
  expect(second.url, second.output()).toBeDefined();
  expect(JSON.parse(place.cli("status", "--json").stdout).health).toMatchObject({ status: "degraded", config: { source: "last-good" } });
});

test("a last good configuration that is damaged itself is not used: the start is refused with what is wrong with the file", async () => {
  const place = makePlace();
  place.configure(GOOD);
  await stopped(place);
  writeFileSync(join(place.stateDir, "config.last-good.json"), `{ "version": 1, "pa`);
  place.configure(GOOD.slice(0, -6));
  const { code, stderr } = place.cli("gateway", "--port", "0");
  expect([code, stderr]).toEqual([1, expect.stringMatching(/openclaw\.json:\d+:\d+: /)]);
});

// The version before is kept first; with space for that alone, it is the file itself that does not fit.
test.for([0, 4096])(
  "a change that does not fit on a disk with %i bytes left is refused with the file's name, and the file stays as it was",
  (left, context) => {
    needMounts(context);
    using disk = mountTmpfs("64k");
    const place = makePlace();
    const env = { OPENCLAW_CONFIG_PATH: join(disk.path, "openclaw.json") };
    writeFileSync(env.OPENCLAW_CONFIG_PATH, GOOD);
    fill(disk.path, left);
    const { code, stderr } = runCommand(place, ["config", "set", "logging.level", "warn"], { env });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/could not (?:write|lock): .*openclaw\.json.* does not fit: the disk is full; free some space/)]);
    expect([readFileSync(env.OPENCLAW_CONFIG_PATH, "utf8"), readdirSync(disk.path).filter((name) => name.endsWith(".tmp"))]).toEqual([GOOD, []]);
  },
);

// File and folder each: the backup, the version before, then the file itself, of which only the last comes after it was replaced.
test.for([1, 2, 3, 4, 5, 6])("a change whose sync %i fails is said to have failed, and the file is a whole one", (nth, context) => {
  needStrace(context);
  const place = makePlace();
  place.configure(GOOD);
  const { wrap } = disturb(`fsync,fdatasync:error=EIO:when=${nth}+`, []);
  const { code, stderr } = runCommand(place, ["config", "set", "logging.level", "warn"], { wrap });
  expect(code).toBe(1);
  expect(stderr).toMatch(/openclaw\.json.* could not be read or written: the disk reports an error; check the disk before anything else/);
  expect(readdirSync(place.home).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  expect(place.cli("config", "get", "logging.level").stdout).toBe(nth < 6 ? "debug\n" : "warn\n");
  if (nth < 6) expect(readFileSync(place.configPath, "utf8")).toBe(GOOD);
});

test.each(["1", "2"])("a change killed right after the file was written (pass %s) leaves a whole file, old or new, and what was there before", (pass) => {
  const place = makePlace();
  place.configure(`{\n  // mine\n  gateway: { mode: "local" },\n  logging: { $include: "./logging.json5" },\n}\n`);
  writeFileSync(join(place.home, "logging.json5"), `{ level: "info" }\n`);
  const before = fingerprint(place.home);
  // The first pass is the included file, the second the main one.
  killAt(`config.written:${pass}`, place, ["config", "set", "logging.level", "debug"]);
  expect(place.cli("config", "validate").code).toBe(0);
  expect(place.cli("config", "get", "logging.level").stdout).toBe("debug\n");
  expect(fingerprint(`${join(place.home, "logging.json5")}.bak`)[""]).toBe(before["logging.json5"]);
  expect(readFileSync(place.configPath, "utf8")).toContain("// mine");
  expect(place.cli("config", "set", "logging.level", "warn").code).toBe(0);
  expect(place.cli("config", "get", "logging.level").stdout).toBe("warn\n");
});
