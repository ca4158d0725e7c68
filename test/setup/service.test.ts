/** The service that the setup installs, with a systemd that records its calls. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { fakePrograms, systemctl } from "./fake-programs.ts";
import { setupHome, type Ended, type SetupHome } from "./place.ts";

vi.setConfig({ testTimeout: 90_000 });

const UNIT = "openclaw-gateway.service";
const unitOf = (home: SetupHome): string => join(home.home, ".config/systemd/user", UNIT);
const ONBOARD = ["onboard", "--non-interactive", "--accept-risk"];

interface Machine {
  readonly home: SetupHome;
  readonly calls: () => readonly string[];
  onboard(...args: readonly string[]): Promise<Ended>;
}

function machine(scripts: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}): Machine {
  const home = setupHome();
  const { path, calls } = fakePrograms(home.home, { loginctl: "echo Linger=no", ...scripts });
  return { home, calls, onboard: (...args) => home.run([...ONBOARD, ...args], { PATH: path, ...env }) };
}

describe.runIf(process.platform === "linux")("a service", () => {
  test("is written into the home, made known and started; lingering is spoken of when it is off", async () => {
    const { home, calls, onboard } = machine({ systemctl: systemctl() });
    const { code, stdout, stderr } = await onboard("--skip-health", "--install-daemon", "--daemon-runtime", "node", "--gateway-port", "19222", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ installDaemon: true, daemonRuntime: "node" });
    const control = calls().filter((call) => call.startsWith("systemctl"));
    expect(control).toEqual(["systemctl --user show-environment", "systemctl --user daemon-reload", `systemctl --user enable --now ${UNIT}`]);
    const unit = readFileSync(unitOf(home), "utf8");
    expect(unit).toMatch(/^ExecStart=\S+ \S+\/bin\/openclaw gateway --port 19222$/m);
    expect(unit).toContain(`"OPENCLAW_STATE_DIR=${home.stateDir}"`);
    expect(stderr).toContain("loginctl enable-linger");
  });

  test("that goes on after a logout needs no hint", async () => {
    const { onboard } = machine({ systemctl: systemctl(), loginctl: "echo Linger=yes" });
    const { code, stderr } = await onboard("--skip-health", "--install-daemon");
    expect([code, stderr.includes("enable-linger")]).toEqual([0, false]);
  });

  test("of the gateway is waited for until it answers", async () => {
    // As systemd does it: the unit's own line, in the unit's own environment.
    const start = [
      'case "$*" in *enable*)',
      '  unit="$HOME/.config/systemd/user/openclaw-gateway.service"',
      '  line=$(sed -n "s/^ExecStart=//p" "$unit")',
      '  set -- $(sed -n \'s/^Environment="\\(.*\\)"$/\\1/p\' "$unit")',
      '  env -i "$@" $line > "$HOME/gateway.out" 2>&1 < /dev/null &',
      '  echo $! > "$HOME/gateway.pid";;',
      "esac",
    ].join("\n");
    const { home, onboard } = machine({ systemctl: start });
    onTestFinished(() => {
      const file = join(home.home, "gateway.pid");
      if (existsSync(file)) process.kill(Number(readFileSync(file, "utf8")), "SIGKILL");
    });
    const { code, stderr } = await onboard("--install-daemon", "--gateway-port", String(await freePort()));
    expect([code, stderr]).toEqual([0, expect.stringContaining("Gateway is running")]);
  });

  test("that systemd will not run in this session is not left behind; what to do is said, and the rest is written", async () => {
    const { home, calls, onboard } = machine({ systemctl: systemctl({ "--user": "Failed to connect to bus: No medium found" }) }, { USER: "ada" });
    const { code, stderr } = await onboard("--skip-health", "--install-daemon");
    expect([code, existsSync(unitOf(home)), calls()]).toEqual([1, false, ["systemctl --user show-environment"]]);
    expect(stderr).toContain("No medium found");
    expect(stderr).toContain("loginctl enable-linger ada");
    expect(home.config()).toMatchObject({ gateway: { mode: "local" } });
  });

  test("under WSL the advice is another one", async () => {
    const { onboard } = machine({ systemctl: systemctl({ "--user": "Failed to connect to bus" }) }, { WSL_DISTRO_NAME: "Debian" });
    expect(await onboard("--skip-health", "--install-daemon")).toMatchObject({ code: 1, stderr: expect.stringContaining("/etc/wsl.conf") });
  });

  test("without systemd on the machine it is something else's work", async () => {
    const { home } = machine({});
    const empty = fakePrograms(home.home, {});
    const { code, stderr } = await home.run([...ONBOARD, "--skip-health", "--install-daemon"], { PATH: empty.folder });
    expect([code, existsSync(unitOf(home))]).toEqual([1, false]);
    expect(stderr).toMatch(/systemd is not available[\s\S]*container/);
  });

  test("that cannot be enabled stays written, with what to run", async () => {
    const { home, onboard } = machine({ systemctl: systemctl({ enable: "Failed to enable unit: it is masked" }) });
    const { code, stderr } = await onboard("--skip-health", "--install-daemon");
    expect([code, existsSync(unitOf(home))]).toEqual([1, true]);
    expect(stderr).toMatch(/it is masked[\s\S]*systemctl --user enable --now openclaw-gateway.service/);
  });

  test("that was changed by hand stays as it is", async () => {
    const { home, onboard } = machine({ systemctl: systemctl() });
    expect((await onboard("--skip-health", "--install-daemon")).code).toBe(0);
    const mine = `${readFileSync(unitOf(home), "utf8")}# mine\n`;
    writeFileSync(unitOf(home), mine);
    const { code, stderr } = await onboard("--skip-health", "--install-daemon");
    expect([code, readFileSync(unitOf(home), "utf8")]).toEqual([1, mine]);
    expect(stderr).toContain("openclaw gateway install --force");
  });

  test.each(["--no-install-daemon", "--skip-daemon"])("is not touched with %s, nor without a word about it", async (flag) => {
    const { home, calls, onboard } = machine({ systemctl: systemctl() });
    expect([(await onboard("--skip-health", flag)).code, (await onboard("--skip-health")).code]).toEqual([0, 0]);
    expect([calls(), existsSync(unitOf(home))]).toEqual([[], false]);
  });
});
