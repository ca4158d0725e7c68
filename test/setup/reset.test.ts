import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { BUILD, setupHome } from "./place.ts";

vi.setConfig({ testTimeout: 60_000 });

const removed = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder).filter((name) => name.includes(".removed-")) : []);

describe("a reset puts away, and deletes nothing", () => {
  function used() {
    const home = setupHome();
    home.configure(`{ gateway: { mode: "local", port: 4321 } }`);
    mkdirSync(join(home.stateDir, "credentials"), { recursive: true });
    writeFileSync(join(home.stateDir, "credentials/oauth.json"), "{}");
    mkdirSync(join(home.stateDir, "workspace"), { recursive: true });
    writeFileSync(join(home.stateDir, "workspace/USER.md"), "mine");
    return home;
  }

  test("by default the configuration, credentials and conversations", async () => {
    const home = used();
    const { code, stdout } = await home.onboard("--skip-health", "--reset");
    expect(code).toBe(0);
    expect(home.config()).toMatchObject({ gateway: { port: 18789 } });
    const [file] = removed(home.home);
    expect(readFileSync(join(home.home, file!), "utf8")).toContain("4321");
    expect(removed(home.stateDir)).toEqual([expect.stringMatching(/^credentials\.removed-/)]);
    expect(stdout).toContain(file);
    expect(readFileSync(join(home.stateDir, "workspace/USER.md"), "utf8")).toBe("mine");
  });

  test("the configuration alone, or the workspace too, when that is asked for", async () => {
    const home = used();
    expect((await home.onboard("--skip-health", "--reset", "--reset-scope", "config")).code).toBe(0);
    expect([removed(home.home).length, removed(home.stateDir)]).toEqual([1, []]);
    expect((await home.onboard("--skip-health", "--reset", "--reset-scope", "full")).code).toBe(0);
    expect(removed(home.stateDir).filter((name) => name.startsWith("workspace."))).toHaveLength(1);
    expect(readFileSync(join(home.stateDir, "workspace/USER.md"), "utf8")).not.toBe("mine");
  });

  test("a file with errors is refused with its errors, and a reset goes past it", async () => {
    const home = used();
    home.configure(`{ gateway: { prot: 1 } }`);
    expect(await home.onboard("--skip-health")).toMatchObject({ code: 1, stderr: expect.stringMatching(/gateway\.prot[\s\S]*openclaw doctor/) });
    expect((await home.onboard("--skip-health", "--reset", "--reset-scope", "config")).code).toBe(0);
    expect(home.config()).toMatchObject({ gateway: { mode: "local" } });
  });

  test("never under a gateway that runs", async () => {
    const home = used();
    await using gateway = await home.gateway({ build: BUILD });
    expect(gateway.url).toBeDefined();
    const before = home.text();
    expect(await home.onboard("--skip-health", "--reset")).toMatchObject({ code: 1, stderr: expect.stringContaining("gateway stop") });
    expect([home.text(), removed(home.home)]).toEqual([before, []]);
  });
});

describe("setup", () => {
  test("makes what is missing, says so in three lines, and changes nothing the second time", async () => {
    const home = setupHome();
    const first = await home.run(["setup", "--workspace", "~/files"]);
    expect(first.code).toBe(0);
    expect(first.stdout).toBe(
      `Config OK: ${home.configPath} (created)\nWorkspace OK: ${join(home.home, "files")}\nSessions OK: ${join(home.stateDir, "agents/main/sessions")}\n`,
    );
    expect(home.config()).toMatchObject({ gateway: { mode: "local" }, agents: { defaults: { workspace: join(home.home, "files") } } });
    writeFileSync(join(home.home, "files/USER.md"), "mine");
    const before = home.text();
    const second = await home.run(["setup", "--workspace", "~/elsewhere"]);
    expect([second.code, home.text(), existsSync(join(home.home, "elsewhere"))]).toEqual([0, before, false]);
    expect(second.stderr).toContain("was kept");
    expect(readFileSync(join(home.home, "files/USER.md"), "utf8")).toBe("mine");
  });

  test("a flag of the wizard starts the wizard", async () => {
    const home = setupHome();
    expect(await home.run(["setup", "--non-interactive"])).toMatchObject({ code: 1, stderr: expect.stringContaining("--accept-risk") });
    const { code, stdout } = await home.run(["setup", "--non-interactive", "--accept-risk", "--mode", "remote", "--remote-url", "ws://127.0.0.1:1", "--json"]);
    expect([code, JSON.parse(stdout)]).toEqual([0, { mode: "remote", remoteUrl: "ws://127.0.0.1:1", auth: "none" }]);
    expect(home.config()).toMatchObject({ wizard: { lastRunCommand: "setup" } });
  });
});
