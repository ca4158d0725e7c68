/** Every section of `configure`, and every flag of the commands that set things up. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { configure, SECTIONS, type Section } from "../../src/setup/configure.ts";
import { at, setupHome } from "./place.ts";
import { LEAVE, person, openSetup } from "./fixture.ts";

vi.setConfig({ testTimeout: 60_000 });

const KEY = "sk-CANARY-0123456789abcdefghijkl";

/** What is answered in a section, and what stands in the file then. */
const ANSWERED: Readonly<Record<Exclude<Section, "daemon" | "health">, readonly [answers: Record<string, unknown>, path: string, value: unknown]>> = {
  workspace: [{ "Agent workspace": "~/elsewhere" }, "agents.defaults.workspace", expect.stringMatching(/\/elsewhere$/)],
  model: [
    {
      "Which model do you want to use?": "custom-api-key",
      URL: "http://127.0.0.1:1/v1",
      "Model id": "large",
      "Which API": "openai",
      "wants none": KEY,
      "cannot be reached": true,
    },
    "agents.defaults.model.primary",
    "custom-127-0-0-1-1/large",
  ],
  web: [{ "Allow agents to search": true, "Search service": "brave", "API key": KEY, "Allow agents to open": true }, "tools.web.search.provider", "brave"],
  gateway: [{ Port: "4321", "Expose it": "off", "Who can": "lan", "How do": "token" }, "gateway.port", 4321],
  channels: [{ "Which channels": ["telegram"], "Bot token": "123456789:AAabcdefghijklmnopqrstuvw" }, "channels.telegram.enabled", true],
  skills: [{ "Package manager": "bun" }, "skills.install.nodeManager", "bun"],
};

describe("configure --section", () => {
  test.each(Object.entries(ANSWERED))("%s writes what was answered, and nothing when it is left", async (section, [answers, path, value]) => {
    const { place, config } = await openSetup("{}");
    const { ask, asked } = person(answers);
    expect(await configure(place, ask, [section as Section])).toMatchObject({ sections: [section] });
    expect(at(config(), path)).toEqual(value);
    expect(at(config(), "wizard.lastRunCommand")).toBe("configure");
    const [first] = asked.filter((message) => !message.startsWith("note"));
    const other = await openSetup("{}");
    await expect(configure(other.place, person({ [first!]: LEAVE }).ask, [section as Section])).rejects.toMatchObject({ code: "CANCELLED" });
    expect(other.text()).toBe("{}");
  });

  test.runIf(process.platform === "linux")("daemon installs the service, and restarts one that is there", async () => {
    const { place, home, calls, text } = await openSetup("{}");
    const unit = join(home, ".config/systemd/user/openclaw-gateway.service");
    await configure(place, person({ "as a service?": true }).ask, ["daemon"]);
    expect([existsSync(unit), calls().includes("systemctl --user enable --now openclaw-gateway.service"), text()]).toEqual([true, true, "{}"]);
    const { ask, offered } = person({ "is already installed": "replace" });
    await configure(place, ask, ["daemon"]);
    expect(Object.values(offered)).toEqual([["replace", "none"]]);
    expect(calls().at(-1)).toBe("systemctl --user restart openclaw-gateway.service");
  });

  test.runIf(process.platform === "linux")("daemon leaves a file that was changed by hand as it is, unless it may write over it", async () => {
    const { place, home, calls } = await openSetup("{}");
    const unit = join(home, ".config/systemd/user/openclaw-gateway.service");
    await configure(place, person({ "as a service?": true }).ask, ["daemon"]);
    const mine = `${readFileSync(unit, "utf8")}# mine\n`;
    writeFileSync(unit, mine);
    await configure(place, person({ "is already installed": "restart" }).ask, ["daemon"]);
    expect([readFileSync(unit, "utf8"), calls().at(-1)]).toEqual([mine, "systemctl --user restart openclaw-gateway.service"]);
    await configure(place, person({ "is already installed": "none" }).ask, ["daemon"]);
    expect(readFileSync(unit, "utf8")).toBe(mine);
    await configure(place, person({ "is already installed": "replace" }).ask, ["daemon"]);
    expect(readFileSync(unit, "utf8")).not.toContain("# mine");
  });

  test.runIf(process.platform === "linux")("daemon does not ask for what systemd will not do here", async () => {
    const { place } = await openSetup("{}", {}, { systemctl: "echo Failed to connect to bus >&2; exit 1" });
    const { ask, asked, notes } = person({});
    await configure(place, ask, ["daemon"]);
    expect(asked.filter((message) => !message.startsWith("note"))).toEqual([]);
    expect(notes.join("\n")).toContain("enable-linger");
  });

  test("health says whether a gateway answers", async () => {
    const { place } = await openSetup("{}");
    const { ask, notes } = person({});
    await configure({ ...place, health: async () => undefined }, ask, ["health"]);
    await configure({ ...place, health: async () => "ready" }, ask, ["health"]);
    expect(notes).toEqual([expect.stringContaining("openclaw gateway"), "ready"]);
  });

  test("there is no section that is not tried here", () => {
    expect([...Object.keys(ANSWERED), "daemon", "health"].toSorted()).toEqual([...SECTIONS].toSorted());
  });
});

const FLAGS: Readonly<Record<string, string>> = {
  onboard:
    "non-interactive accept-risk mode flow json reset workspace auth-choice anthropic-api-key openai-api-key openrouter-api-key litellm-api-key ai-gateway-api-key cloudflare-ai-gateway-api-key cloudflare-ai-gateway-account-id cloudflare-ai-gateway-gateway-id moonshot-api-key kimi-code-api-key gemini-api-key zai-api-key xai-api-key qianfan-api-key xiaomi-api-key minimax-api-key synthetic-api-key venice-api-key together-api-key huggingface-api-key opencode-zen-api-key token token-provider token-profile-id token-expires-in custom-base-url custom-model-id custom-api-key custom-provider-id custom-compatibility gateway-port gateway-bind gateway-auth gateway-token gateway-password tailscale tailscale-reset-on-exit install-daemon no-install-daemon skip-daemon daemon-runtime skip-channels skip-skills skip-health skip-ui node-manager remote-url remote-token",
  configure: "section",
  setup: "workspace wizard non-interactive mode remote-url remote-token",
  doctor: "yes repair fix force non-interactive deep generate-gateway-token no-workspace-suggestions",
  dashboard: "no-open",
  tui: "url token password session deliver thinking message timeout-ms history-limit",
};

describe("the documented flags", () => {
  test.each(Object.entries(FLAGS))("of %s are in its help", async (command, names) => {
    const { code, stdout } = await setupHome().run([command, "--help"]);
    expect(code).toBe(0);
    const documented = new Set([...stdout.matchAll(/--([a-z][a-z-]+)/g)].map(([, name]) => name));
    expect(names.split(" ").filter((name) => !documented.has(name))).toEqual([]);
  });

  test("of setup: without one it only makes what is missing; --wizard and the others are onboard", async () => {
    const home = setupHome();
    expect(await home.run(["setup", "--workspace", "files"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Config OK[\s\S]*Workspace OK[\s\S]*Sessions OK/),
    });
    expect(at(home.config(), "wizard")).toBeUndefined();
    expect(await home.run(["setup", "--wizard"])).toMatchObject({ code: 1, stderr: expect.stringContaining("needs a terminal") });
    expect(await home.run(["setup", "--non-interactive"])).toMatchObject({ code: 1, stderr: expect.stringContaining("--accept-risk") });
    const remote = ["--mode", "remote", "--remote-url", "wss://gateway.example", "--remote-token", "a-remote-token-012345"];
    expect(await home.run(["setup", "--non-interactive", "--accept-risk", ...remote, "--json"])).toMatchObject({ code: 0 });
    expect(home.config()).toMatchObject({ gateway: { mode: "remote", remote: { url: "wss://gateway.example" } }, wizard: { lastRunCommand: "setup" } });
  });
});
