import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test, type TestContext } from "vitest";
import { bundled } from "../harness/bundled.ts";
import { ROOT } from "../harness/gateway-process.ts";
import { AS_NOBODY, giveToNobody, needBwrap, needNobody } from "../harness/privileges.ts";
import type { DriverInput, Step, StepResult } from "./sandbox-driver.ts";

let driver = "";
beforeAll(async () => {
  driver = await bundled(join(ROOT, "test/security/sandbox-driver.ts"));
});
const USERS = process.getuid?.() === 0 ? (["root", "nobody"] as const) : (["nobody"] as const);
type User = (typeof USERS)[number];

/** A folder that the user owns, with what nobody inside may see. */
function makeBase(user: User): string {
  const base = mkdtempSync(join(tmpdir(), "sandbox-escape-"));
  chmodSync(base, 0o755);
  const folders = ["workspace", "state", "state/sandboxes", "state/sandboxes/other"].map((name) => join(base, name));
  for (const folder of folders) mkdirSync(folder);
  const files = {
    secret: "canary-secret",
    "state/openclaw.json": "canary-config",
    "state/sandboxes/other/f": "canary-other",
    "workspace/mine": "canary-workspace",
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(base, name), content, { mode: 0o600 });
  if (runsAs(user).length > 0) giveToNobody(base, ...folders, ...Object.keys(files).map((name) => join(base, name)));
  return base;
}

/** The user who runs the tests is the ordinary user, unless that is root. */
const runsAs = (user: User): readonly string[] => (user === "nobody" && process.getuid?.() === 0 ? AS_NOBODY : []);

function need(context: TestContext, user: User): void {
  needBwrap(context);
  if (user === "nobody" && process.getuid?.() === 0) needNobody(context);
}

function driverArgs(user: User, input: DriverInput): readonly string[] {
  return [...runsAs(user), process.execPath, driver, JSON.stringify(input)];
}

async function drive(user: User, base: string, steps: readonly Step[], sandbox: Record<string, unknown> = {}): Promise<readonly StepResult[]> {
  const [file = "", ...args] = driverArgs(user, { base, sandbox, steps });
  const child = spawn(file, args, { env: { PATH: process.env["PATH"], GATEWAY_SECRET: "canary-variable" }, stdio: ["ignore", "pipe", "pipe"] });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => void (out += String(chunk)));
  child.stderr.on("data", (chunk) => void (err += String(chunk)));
  await once(child, "close");
  if (out === "") throw new Error(`the driver said nothing: ${err}`);
  return JSON.parse(out) as readonly StepResult[];
}

/** A process of the same user that code inside might want to get at. */
function startVictim(user: User): ChildProcess {
  const [file, ...args] = [...runsAs(user), "sleep", "300"];
  const victim = spawn(file, args, { env: { PATH: process.env["PATH"], VICTIM: "canary-environment" }, stdio: "ignore" });
  onTestFinished(() => void victim.kill("SIGKILL"));
  return victim;
}

interface Attack {
  readonly what: string;
  /** Harmless where it succeeds: it is tried on the machine itself as well. */
  readonly command: string;
  readonly success: RegExp;
  /** An ordinary user could not do it anyway. */
  readonly rootOnly?: boolean;
}

function attacks({ base, victim, port }: { readonly base: string; readonly victim: number; readonly port: number }): readonly Attack[] {
  const openable = (path: string): string => `( : >> ${path} ) 2>/dev/null && echo can-write`;
  return [
    { what: "reads a file of the host", command: `cat ${base}/secret`, success: /canary-secret/ },
    { what: "reads the gateway's folder", command: `cat ${base}/state/openclaw.json`, success: /canary-config/ },
    { what: "reads another sandbox's workspace", command: `cat ${base}/state/sandboxes/other/f`, success: /canary-other/ },
    { what: "reads the agent's workspace, which is not shared", command: `cat ${base}/workspace/mine`, success: /canary-workspace/ },
    { what: "reads the users' passwords", command: "head -c 20 /etc/shadow >/dev/null && echo got-it", success: /got-it/, rootOnly: true },
    { what: "looks into root's home", command: "cd /root && echo in", success: /^in/m, rootOnly: true },
    { what: "reads through a link", command: `ln -sf ${base}/secret link && cat link`, success: /canary-secret/ },
    { what: "reads through the root of another process", command: `cat /proc/${victim}/root${base}/secret`, success: /canary-secret/ },
    { what: "writes beside the workspace", command: `echo x > ${base}/escaped-$$ && echo wrote`, success: /wrote/ },
    { what: "writes to the programs", command: openable("/usr/bin/env"), success: /can-write/, rootOnly: true },
    { what: "writes to the kernel's settings", command: openable("/proc/sys/kernel/core_pattern"), success: /can-write/, rootOnly: true },
    { what: "reaches a service of the machine", command: `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3'`, success: /canary-service/ },
    { what: "sees another process", command: `ls -d /proc/${victim} && tr '\\0' ' ' < /proc/${victim}/cmdline`, success: /sleep 300/ },
    { what: "reads another process's variables", command: `tr '\\0' '\\n' < /proc/${victim}/environ`, success: /canary-environment/ },
    { what: "reads another process's memory map", command: `head -1 /proc/${victim}/maps`, success: /^[0-9a-f]+-[0-9a-f]+ r/m },
    { what: "signals another process", command: `kill -0 ${victim} && echo reached`, success: /reached/ },
    { what: "mounts", command: "unshare -rm mount -t tmpfs none /mnt && echo mounted", success: /mounted/ },
    { what: "makes namespaces", command: "unshare -U true && echo made", success: /made/ },
    { what: "makes a device", command: "mknod ./device-$$ c 1 3 && echo made", success: /made/, rootOnly: true },
    { what: "gets rights from a set-uid program", command: "grep -q 'NoNewPrivs:.0' /proc/self/status && echo possible", success: /possible/ },
    { what: "has capabilities to get", command: "grep -q 'CapBnd:.0*$' /proc/self/status || echo some", success: /some/ },
    {
      what: "reads the gateway's variables",
      command: "cat /proc/self/environ /proc/$PPID/environ /proc/1/environ 2>/dev/null | tr '\\0' '\\n'",
      success: /canary-variable/,
    },
    { what: "reads the kernel's log", command: "( : < /dev/kmsg ) && echo got-it", success: /got-it/, rootOnly: true },
    { what: "changes the machine's name", command: "unshare -u hostname x && echo named", success: /named/, rootOnly: true },
  ];
}

describe.each(USERS)("from inside, with the gateway run by %s", (user) => {
  test("nothing of the machine is reached, by ways that work outside", async (context) => {
    need(context, user);
    const base = makeBase(user);
    const victim = startVictim(user);
    await using server = createServer((socket) => socket.on("error", () => undefined).end("canary-service")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const tried = attacks({ base, victim: victim.pid!, port: (server.address() as AddressInfo).port }).filter(({ rootOnly }) => !rootOnly || user === "root");
    const results = await drive(
      user,
      base,
      // What ran says so at its end: a sandbox that does not work at all would pass for a good one.
      tried.map(({ command }) => ({ do: "exec", command: `${command}\necho over`, outside: true })),
    );
    for (const [at, { inside }] of results.entries()) expect(inside, tried[at]!.what).toMatch(/^over$/m);
    const seen = tried.map(({ what, success }, at) => ({ what, inside: success.test(results[at]!.inside), outside: success.test(results[at]!.outside!) }));
    expect(seen).toEqual(tried.map(({ what }) => ({ what, inside: false, outside: true })));
    expect(results.map(({ inside }) => inside).join("\n")).not.toContain("canary");
    expect(victim.exitCode ?? victim.signalCode).toBeNull();
  });

  test("no file of /proc but those of one's own processes can be opened to write", async (context) => {
    need(context, user);
    const sweep =
      "find /proc -maxdepth 8 -path '/proc/[0-9]*' -prune -o -path '/proc/*self' -prune -o -type f -print 2>/dev/null | " +
      'while read -r f; do ( : >> "$f" ) 2>/dev/null && echo "open $f"; done; echo looked at $(find /proc/sys -type f | wc -l)';
    const [{ inside } = { inside: "" }] = await drive(user, makeBase(user), [{ do: "exec", command: sweep }]);
    expect(inside).toMatch(/^looked at [1-9]\d{2,}$/);
  });

  test("work goes on as usual: the workspace, folders in memory, programs", async (context) => {
    need(context, user);
    const base = makeBase(user);
    const command = "echo hello > f && mkdir -p d && cp f d/ && echo t > /tmp/t && cat d/f /tmp/t && pwd && id -un && git --version >/dev/null && echo fine";
    const results = await drive(user, base, [
      { do: "exec", command },
      { do: "read", path: "d/f" },
      { do: "read", path: "/workspace/f" },
      { do: "write", path: "from-tool", content: "seen" },
      { do: "exec", command: "cat from-tool; cat /tmp/t", params: { workdir: "d/.." } },
    ]);
    expect(results.map(({ inside }) => inside)).toEqual([
      "hello\nt\n/workspace\nsandbox\nfine",
      "hello",
      "hello",
      "Successfully wrote 4 bytes to from-tool",
      expect.stringMatching(/^seencat: \/tmp\/t: No such file/),
    ]);
    expect(existsSync(join(base, "workspace/f"))).toBe(false);
  });

  test("links made inside lead no file tool out", async (context) => {
    need(context, user);
    const base = makeBase(user);
    const links = `ln -s ${base}/secret link; ln -s ${base} folder; ln -s / root; echo done`;
    const [made, ...refused] = await drive(user, base, [
      { do: "exec", command: links },
      ...["link", "folder/secret", `root${base}/secret`, `${base}/secret`, "../../../secret"].flatMap((path): Step[] => [
        { do: "read", path },
        { do: "write", path, content: "overwritten" },
      ]),
      { do: "write", path: "folder/new", content: "x" },
    ]);
    expect(made?.inside).toBe("done");
    for (const { inside } of refused) expect(inside).toMatch(/escapes sandbox root|Sandbox FS error|EACCES|permission/i);
    expect(readFileSync(join(base, "secret"), "utf8")).toBe("canary-secret");
    expect(existsSync(join(base, "new"))).toBe(false);
  });

  test("access ro: the agent's workspace is read at /agent and never written, by command or tool", async (context) => {
    need(context, user);
    const base = makeBase(user);
    const results = await drive(
      user,
      base,
      [
        { do: "exec", command: "cat /agent/mine; echo; echo x > /agent/mine; echo x > /agent/new; echo y > own && cat own" },
        { do: "read", path: "/agent/mine" },
        { do: "write", path: "/agent/mine", content: "x" },
        { do: "write", path: "own", content: "x" },
      ],
      { workspaceAccess: "ro" },
    );
    expect(results[0]?.inside).toMatch(/canary-workspace/);
    expect(results[0]?.inside.match(/Read-only file system/g)).toHaveLength(2);
    expect(results[0]?.inside).toMatch(/^y$/m);
    expect(results[1]?.inside).toBe("canary-workspace");
    expect(results[2]?.inside).toMatch(/Sandbox path is read-only; cannot write files: \/agent\/mine/);
    expect(results[3]?.inside).toMatch(/Sandbox path is read-only; cannot write files/);
    expect(readFileSync(join(base, "workspace/mine"), "utf8")).toBe("canary-workspace");
  });

  test("access rw: the agent's workspace itself, and still nothing else", async (context) => {
    need(context, user);
    const base = makeBase(user);
    const [{ inside } = { inside: "" }] = await drive(user, base, [{ do: "exec", command: `cat mine; echo changed > mine; ls /agent; cat ${base}/secret` }], {
      workspaceAccess: "rw",
    });
    expect(inside).toContain("canary-workspace");
    expect(inside).not.toContain("canary-secret");
    expect(readFileSync(join(base, "workspace/mine"), "utf8")).toBe("changed\n");
  });

  test("access rw: plugins of the workspace, which the gateway may load, cannot be written, whether or not the folder was there", async (context) => {
    need(context, user);
    const base = makeBase(user);
    const plugin = ".openclaw/extensions/evil";
    const tries = [
      `mkdir -p ${plugin}`,
      `mv .openclaw elsewhere; mkdir -p ${plugin}`,
      `rm -rf .openclaw; mkdir -p ${plugin}`,
      `ln -s .openclaw/extensions way; ln -s .openclaw there; mkdir way/evil there/extensions`,
      `ln -sfn /tmp .openclaw; ln -s ${plugin} again`,
    ];
    const steps: readonly Step[] = [
      ...tries.map((command) => ({ do: "exec" as const, command: `${command}; touch ${plugin}/index.js` })),
      ...[
        `${plugin}/index.js`,
        `/workspace/${plugin}/index.js`,
        `${base}/workspace/${plugin}/index.js`,
        "way/evil/index.js",
        "there/index.js",
        "there/extensions/evil/index.js",
      ].map((path) => ({
        do: "write" as const,
        path,
        content: "evil",
      })),
      { do: "exec", command: "echo fine > ordinary; cat ordinary" },
    ];
    const results = await drive(user, base, steps, { workspaceAccess: "rw" });
    expect(results.at(-1)?.inside).toContain("fine");
    expect(readdirSync(join(base, "workspace/.openclaw"))).toEqual([]);
    for (const { inside } of results.slice(tries.length, -1)) expect(inside).toMatch(/read-only|does not exist/);
    if (runsAs(user).length === 0) {
      rmSync(join(base, "workspace/.openclaw"), { recursive: true });
      symlinkSync(join(base, "workspace"), join(base, "workspace/.openclaw"));
      const [{ inside } = { inside: "" }] = await drive(user, base, [{ do: "exec", command: "echo ran" }], { workspaceAccess: "rw" });
      expect(inside).toMatch(/is a link or a file/);
    }
  });

  test("a network that was allowed is there", async (context) => {
    need(context, user);
    await using server = createServer((socket) => socket.on("error", () => undefined).end("canary-service")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const command = `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${(server.address() as AddressInfo).port} && cat <&3'`;
    const [{ inside } = { inside: "" }] = await drive(user, makeBase(user), [{ do: "exec", command }], { bwrap: { network: "host" } });
    expect(inside).toBe("canary-service");
  });

  test("a command that starts ever more processes is held", async (context) => {
    need(context, user);
    const [name, count] = [sleepName(), 300];
    const command = `i=0; while [ $i -lt ${count} ]; do sleep ${name} & i=$((i+1)); done; sleep 1; echo all of them`;
    const [{ inside } = { inside: "" }] = await drive(user, makeBase(user), [{ do: "exec", command }], { bwrap: { pidsLimit: 40 } });
    expect(inside).not.toContain("all of them");
    expect(inside).toMatch(/fork|SIGKILL/i);
    await expect.poll(() => sleepers(name)).toEqual([]);
    const [free] = await drive(user, makeBase(user), [{ do: "exec", command: command.replace("sleep 1;", "") }], { bwrap: { pidsLimit: 1000 } });
    expect(free?.inside).toContain("all of them");
  });

  test("memory and files are limited where that was asked for", async (context) => {
    need(context, user);
    const command = "head -c 3000000 /dev/zero > big; wc -c < big; head -c 400000000 /dev/zero | tail | wc -c; df -k /tmp | tail -1 | awk '{print $2}'";
    const limits = { bwrap: { fileSize: "1m", memory: "200m", tmpSize: "8m" } };
    const [held, free] = await Promise.all([
      drive(user, makeBase(user), [{ do: "exec", command }], limits),
      drive(user, makeBase(user), [{ do: "exec", command: command.replace("400000000", "1000") }]),
    ]);
    expect(held[0]?.inside).toMatch(/^1048576$/m);
    expect(held[0]?.inside).not.toMatch(/^400000000$/m);
    expect(held[0]?.inside).toMatch(/^8192$/m);
    expect(free[0]?.inside).toMatch(/^3000000\n1000\n262144$/);
  });

  test("nothing is left running: after the end, after a timeout, after the gateway was killed", async (context) => {
    need(context, user);
    const [afterEnd, afterTimeout, afterKill] = [sleepName(), sleepName(), sleepName()];
    const base = makeBase(user);
    const tree = (name: string, then: string): string => `setsid sleep ${name} & (setsid sh -c 'trap "" TERM; sleep ${name}' &); ${then}`;
    const results = await drive(user, base, [
      { do: "exec", command: tree(afterEnd, "sleep 0.2; echo over") },
      { do: "exec", command: tree(afterTimeout, `sleep ${afterTimeout}`), params: { timeout: 1 } },
    ]);
    expect(results[0]?.inside).toBe("over");
    expect(results[1]?.inside).toContain("Command timed out after 1 seconds");
    await expect.poll(() => [...sleepers(afterEnd), ...sleepers(afterTimeout)]).toEqual([]);

    const [file = "", ...args] = driverArgs(user, { base, sandbox: {}, steps: [{ do: "exec", command: tree(afterKill, `sleep ${afterKill}`) }] });
    const gateway = spawn(file, args, { env: { PATH: process.env["PATH"] }, stdio: "ignore" });
    await expect.poll(() => sleepers(afterKill).length).toBeGreaterThanOrEqual(3);
    gateway.kill("SIGKILL");
    await expect.poll(() => sleepers(afterKill)).toEqual([]);
  });

  test("a command that wants a terminal gets one of the sandbox's own, and nothing of it is left running", async (context) => {
    need(context, user);
    const name = sleepName();
    const results = await drive(user, makeBase(user), [
      { do: "exec", command: "tty && test -t 0 && test -t 1 && stty size && ls /dev/pts && hostname", params: { pty: true } },
      { do: "exec", command: `setsid sleep ${name} & sh -c 'trap "" HUP TERM; sleep ${name}'`, params: { pty: true, timeout: 1 } },
    ]);
    expect(results[0]?.inside).toMatch(/^\/dev\/pts\/0\n30 120\n0\s+ptmx\nsandbox$/);
    expect(results[1]?.inside).toBe("Command timed out after 1 seconds");
    await expect.poll(() => sleepers(name)).toEqual([]);
  });

  test("there is no terminal to type into", async (context) => {
    need(context, user);
    context.skip(spawnSync("script", ["--version"]).status !== 0, "needs script (util-linux)");
    const command = "( : <>/dev/tty ) 2>/dev/null && echo has a terminal; echo over";
    const [{ inside } = { inside: "{}" }] = await drive(user, makeBase(user), [{ do: "show", command }]);
    const { file, args, env } = JSON.parse(inside) as { file: string; args: string[]; env: Record<string, string> };
    const inTerminal = (words: readonly string[]): string => {
      const line = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
      const [program, ...rest] = [...runsAs(user), "script", "-qec", line, "/dev/null"];
      return spawnSync(program, rest, { encoding: "utf8", env: { ...env, SHELL: "/bin/sh", PATH: process.env["PATH"] }, timeout: 20_000 }).stdout;
    };
    expect(inTerminal(["/bin/sh", "-c", command])).toMatch(/has a terminal\s+over/);
    expect(inTerminal([file, ...args]).trim()).toBe("over");
  });
});

let serial = 0;
/** A time to sleep that no other process sleeps. */
function sleepName(): string {
  serial += 1;
  return `${50_000 + serial}.${process.pid}`;
}

/** Processes of the machine that sleep so long. */
function sleepers(name: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8") === `sleep\0${name}\0`;
    } catch {
      return false;
    }
  });
}
