/** The doctor as people and scripts run it. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { CHECKS } from "../../src/doctor/examine.ts";
import { doctor, DOCTOR_OPTIONS } from "../../src/cli/commands/doctor/index.ts";
import { openCommandLine, runCommand, type CommandLine, type CommandLineOptions } from "../harness/command-line.ts";
import { readPage, ticked } from "../harness/docs-page.ts";
import { makePlace, type Place } from "../harness/gateway-process.ts";
import { runCommand as runProgram, type Build } from "../harness/program.ts";

vi.setConfig({ testTimeout: 60_000 });

const BUILD: Build = "dist-test";

interface Shown {
  readonly id: string;
  readonly level: string;
  readonly text: string;
  readonly todo?: string;
  readonly repaired?: string;
  readonly repair?: { readonly summary: string; readonly safe: boolean };
}

interface Report {
  readonly checks: readonly Shown[];
  readonly summary: Readonly<Record<string, number>>;
}

function commandLine(options: CommandLineOptions = {}): CommandLine<Report> {
  const line = openCommandLine<Report>("doctor", doctor, { env: { PATH: "" }, ...options });
  onTestFinished(() => rmSync(line.home, { recursive: true, force: true }));
  mkdirSync(line.stateDir, { mode: 0o700 });
  if (options.config !== null) chmodSync(line.path, 0o600);
  return line;
}

const UNKNOWN = `// mine\n{ gateway: { mode: "local", auth: { token: "abc" }, prot: 1 } }`;
const OLD = `{ gateway: { mode: "local", token: "abc" } }`;
const about = ({ checks }: Report, id: string): readonly Shown[] => checks.filter((check) => check.id === id || check.id.startsWith(`${id}:`));

describe("for machines", () => {
  test("each finding has an id, a level and a text; the sums agree; the code is 0 whatever is found", async () => {
    const result = await commandLine({ config: UNKNOWN }).run("--json");
    expect([result.code, result.err]).toEqual([0, ""]);
    const { checks, summary } = result.json();
    for (const check of checks)
      expect(check).toMatchObject({ id: expect.any(String), level: expect.stringMatching(/^(?:ok|info|warn|error)$/), text: expect.any(String) });
    expect(CHECKS.map(({ id }) => id).filter((id) => !checks.some((check) => check.id === id || check.id.startsWith(`${id}:`)))).toEqual([]);
    expect(summary).toMatchObject({
      error: checks.filter(({ level }) => level === "error").length,
      repaired: 0,
      repairable: checks.filter(({ repair }) => repair).length,
    });
    expect(about({ checks, summary }, "config.keys")).toMatchObject([{ level: "error", repair: { summary: "remove gateway.prot", safe: false } }]);
  });

  test("what was repaired is reported, and is healthy from then on", async () => {
    const line = commandLine({ config: UNKNOWN });
    const first = (await line.run("--fix", "--json")).json();
    expect(about(first, "config.keys")).toMatchObject([{ level: "ok", repaired: expect.stringContaining("gateway.prot") }]);
    expect(first.summary["repaired"]).toBe(1);
    expect(readFileSync(line.path, "utf8")).toMatch(/^\/\/ mine\n/);
    expect((await line.run("--fix", "--json")).json().summary).toMatchObject({ repaired: 0, repairable: 0, error: 0 });
  });
});

describe("what is repaired", () => {
  const fixed = async (config: string, ...flags: string[]): Promise<boolean> => {
    const line = commandLine({ config });
    await line.run("--json", ...flags);
    return readFileSync(line.path, "utf8") !== config;
  };

  test("nothing, unless it is asked for", async () => {
    expect([await fixed(UNKNOWN), await fixed(OLD)]).toEqual([false, false]);
  });

  test("--fix and --repair: everything; --yes: all but unknown keys; --non-interactive: what takes nothing away", async () => {
    for (const flag of ["--fix", "--repair"]) expect([await fixed(UNKNOWN, flag), await fixed(OLD, flag)], flag).toEqual([true, true]);
    for (const flag of ["--yes", "--non-interactive"]) expect([await fixed(UNKNOWN, flag), await fixed(OLD, flag)], flag).toEqual([false, true]);
  });

  test("--generate-gateway-token makes a token, and nothing else", async () => {
    const line = commandLine({ config: `{ gateway: { mode: "local" } }` });
    const { out } = await line.run("--generate-gateway-token");
    const [token] = /[0-9a-f]{64}/.exec(readFileSync(line.path, "utf8"))!;
    expect(out).not.toContain(token);
  });

  test("a service file that was changed by hand: with --force only, and what stood there is kept", async () => {
    if (process.platform !== "linux") return;
    const line = commandLine({ config: `{ gateway: { mode: "local", auth: { token: "abc" } } }` });
    const file = join(line.home, ".config/systemd/user/openclaw-gateway.service");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "[Service]\nExecStart=/usr/bin/node /opt/openclaw gateway\n");
    const before = readFileSync(file, "utf8");
    expect((await line.run("--fix", "--json")).json().summary["repaired"]).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(before);
    expect((await line.run("--fix", "--force", "--json")).json().summary["repaired"]).toBeGreaterThan(0);
    expect([readFileSync(`${file}.bak`, "utf8"), readFileSync(file, "utf8").includes("Restart=always")]).toEqual([before, true]);
    expect(about((await line.run("--fix", "--force", "--json")).json(), "service.file")).toMatchObject([{ level: "ok" }]);
  });
});

describe("on a terminal", () => {
  const sit = (line: CommandLine<Report>, confirm: (question: string) => Promise<boolean>) =>
    runCommand("doctor", doctor, [], {
      env: { HOME: line.home, OPENCLAW_STATE_DIR: line.stateDir, OPENCLAW_CONFIG_PATH: line.path, PATH: "" },
      cwd: line.home,
      interactive: true,
      columns: 70,
      confirm,
    });

  test("findings stand in boxes as wide as the screen, then in a table, then in one line", async () => {
    const { out, code } = await sit(commandLine({ config: UNKNOWN }), () => Promise.resolve(false));
    const lines = out.split("\n");
    const edges = lines.filter((text) => /^[╭│╰]/.test(text));
    expect([code, edges.every((text) => text.length === 70)]).toEqual([0, true]);
    expect(out).toMatch(/╭ Configuration · Unknown keys ─+╮\n│ error: .*gateway\.prot/);
    expect(out).toMatch(/\nLevel +Check +Finding\n/);
    expect(lines.at(-2)).toMatch(/^\d+ errors?.* with: openclaw doctor --fix$/);
  });

  test("each repair is asked for, and a yes is followed at once", async () => {
    const line = commandLine({ config: UNKNOWN });
    const asked: string[] = [];
    const { out } = await sit(line, async (question) => (asked.push(question), question.includes("gateway.prot")));
    expect(asked).toContain("remove gateway.prot?");
    expect(out).toContain("✓ Removed gateway.prot");
    expect(readFileSync(line.path, "utf8")).not.toContain("prot:");
  });

  test("a user who leaves a question is asked no other, and nothing is changed", async () => {
    const line = commandLine({ config: UNKNOWN.replace(`auth: { token: "abc" }, `, "") });
    chmodSync(line.path, 0o644);
    let asked = 0;
    const leave = (): Promise<boolean> => ((asked += 1), Promise.reject(Object.assign(new Error("Aborted"), { name: "AbortError" })));
    const before = readFileSync(line.path, "utf8");
    const { code, out } = await sit(line, leave);
    expect([code, asked, readFileSync(line.path, "utf8")]).toEqual([0, 1, before]);
    expect(out).toContain(". Repair ");
  });

  test("what a file says cannot move the cursor", async () => {
    const { out } = await sit(commandLine({ config: String.raw`{ "\u001b[2Jgateway": 1 }` }), () => Promise.resolve(false));
    expect(out).not.toContain("\x1b");
  });
});

/** A home as an earlier version left it. */
async function oldHome(): Promise<Place> {
  const place = makePlace();
  onTestFinished(() => rmSync(place.home, { recursive: true, force: true }));
  const put = (name: string, text: string): void => {
    mkdirSync(dirname(join(place.stateDir, name)), { recursive: true, mode: 0o755 });
    writeFileSync(join(place.stateDir, name), text, { mode: 0o644 });
  };
  place.configure(`// kept\n{ routing: { queue: { mode: "collect" } }, gateway: { mode: "local", port: ${await freePort()} }, nonsense: 1 }\n`);
  put("sessions/a.jsonl", "a");
  put("sessions/b.jsonl", "b");
  put("sessions/sessions.json", `{"main":{"sessionId":"a","updatedAt":1}}`);
  put("agent/models.json", "{}");
  for (const name of ["creds.json", "pre-key-1.json", "session-1.json"]) put(`credentials/${name}`, name);
  put("agents/main/sessions/a.jsonl.lock", `{"pid":1073741824}`);
  return place;
}

/** Every file's content, wherever it is: what must not get lost. */
function contents(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .filter((text) => ["a", "b", "creds.json", "pre-key-1.json", "session-1.json"].includes(text));
}

describe("as a program", () => {
  const run = (place: Place, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    runProgram(place, ["doctor", ...args], { build: BUILD, env });

  test("a fresh setup is well, and nothing is written", async () => {
    const place = makePlace();
    onTestFinished(() => rmSync(place.home, { recursive: true, force: true }));
    place.configure(`{ gateway: { mode: "local", port: ${await freePort()}, auth: { token: "abc" } } }`);
    const { code, stdout, stderr } = run(place, []);
    expect([code, stderr, /(?:^|\n)(?:error|warn) .*/.exec(stdout)?.[0]]).toEqual([0, "", undefined]);
    expect(stdout).toMatch(new RegExp(`No problems found: ${CHECKS.length} checks\n$`));
    expect(existsSync(place.stateDir)).toBe(false);
  });

  test("repaired once, there is nothing to repair the second time", async () => {
    const place = await oldHome();
    const first = JSON.parse(run(place, ["--fix", "--json"]).stdout) as Report;
    const made = first.checks.flatMap(({ id, repaired }) => (repaired === undefined ? [] : [id]));
    expect(new Set(made)).toEqual(
      new Set([
        "config.keys",
        "config.legacy",
        "gateway.auth",
        "state.legacy:sessions",
        "state.legacy:agent",
        "state.legacy:whatsapp",
        "state.modes",
        "sessions.locks",
      ]),
    );
    const second = JSON.parse(run(place, ["--fix", "--json"]).stdout) as Report;
    expect(second.summary).toMatchObject({ repaired: 0, repairable: 0, error: 0 });
    expect(second.checks.filter(({ level }) => level === "warn")).toEqual([]);
    expect(contents(place.stateDir).toSorted()).toEqual(["a", "b", "creds.json", "pre-key-1.json", "session-1.json"]);
  });

  test.each(["config.written:1", "config.written:2", "doctor.moved:1", "doctor.moved:3", "doctor.moved:6"])(
    "killed at %s nothing is lost, and the next run ends the work",
    async (failpoint) => {
      const place = await oldHome();
      expect(run(place, ["--fix"], { OPENCLAW_FAILPOINT: failpoint }).signal).toBe("SIGKILL");
      expect(contents(place.stateDir).toSorted()).toEqual(["a", "b", "creds.json", "pre-key-1.json", "session-1.json"]);
      run(place, ["--fix"]);
      expect((JSON.parse(run(place, ["--fix", "--json"]).stdout) as Report).summary).toMatchObject({ repaired: 0, repairable: 0, error: 0 });
      const moved = JSON.parse(readFileSync(join(place.stateDir, "agents/main/sessions/sessions.json"), "utf8")) as unknown;
      expect(moved).toEqual({ "agent:main:main": { sessionId: "a", updatedAt: 1 } });
      expect(readFileSync(place.configPath, "utf8")).toMatch(/^\/\/ kept\n[\s\S]*messages/);
    },
  );

  test("a running gateway is asked how it is", async () => {
    const place = makePlace();
    onTestFinished(() => rmSync(place.home, { recursive: true, force: true }));
    place.configure(`{ gateway: { mode: "local", auth: { token: "abc" } } }`);
    await using gateway = await place.gateway({ build: BUILD });
    expect(gateway.url).toBeDefined();
    const report = JSON.parse(run(place, ["--json"]).stdout) as Report;
    expect([about(report, "gateway.health"), about(report, "gateway.instances")]).toMatchObject([[{ level: "ok" }], [{ level: "ok" }]]);
  });
});

describe("the page about the doctor", () => {
  const page = readPage("docs/doctor.md");

  test("names every check, in the order in which they are made", () => {
    expect(page.rowsOf("| check | what it looks at | what `--fix` does |").map(([id]) => ticked(id!)[0])).toEqual(CHECKS.map(({ id }) => id));
  });

  test("names every flag", () => {
    expect(Object.keys(DOCTOR_OPTIONS).filter((name) => !page.text.includes(`\`--${name}\``))).toEqual([]);
  });
});

describe("channels", () => {
  test("each channel's own rules: what is missing, and what to do about it", async () => {
    const channels = {
      telegram: { botToken: "123:abc", webhookUrl: "https://claw.example.com/elsewhere", webhookSecret: "s3cret-s3cret" },
      discord: { token: "two words" },
      slack: { botToken: "xoxb-1" },
      whatsapp: { enabled: true },
      signal: { account: "+15551234567" },
      imessage: { cliPath: "/nowhere/imsg" },
      googlechat: { serviceAccountFile: "/nowhere/key.json", audienceType: "app-url", audience: "https://claw.example.com/chat" },
      mattermost: { botToken: "t", baseUrl: "https://chat.example.com", dmPolicy: "disabled", groupPolicy: "disabled" },
      irc: { host: "irc.example.com", nick: "claw", tls: false, password: "secret" },
    };
    const result = await commandLine({ config: JSON.stringify({ channels }) }).run("--json");
    const found = about(result.json(), "channels.rules");
    const of = (channel: string) =>
      found.filter(({ id }) => id.startsWith(`channels.rules:${channel}.default.`)).map(({ id, level }) => `${id.split(".").at(-1)} ${level}`);
    expect(Object.fromEntries(Object.keys(channels).map((channel) => [channel, of(channel)]))).toEqual({
      telegram: ["program info", "webhook warn"],
      discord: ["settings error", "program info"],
      slack: ["settings error"],
      whatsapp: ["program info", "link error"],
      signal: ["program error"],
      imessage: ["program error"],
      googlechat: ["settings error", "webhook warn"],
      mattermost: ["nobody warn"],
      irc: ["tls warn"],
    });
    for (const { text, todo } of found) expect([text, todo]).toEqual([expect.any(String), expect.any(String)]);
  });
});
