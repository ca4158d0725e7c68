import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sandbox } from "../../src/cli/commands/groups.ts";
import { sandboxSettings } from "../../src/tools/index.ts";
import { makeFakeDocker } from "../fakes/docker.ts";
import { openCommandLine } from "../harness/command-line.ts";
import { ROOT } from "../harness/gateway-process.ts";

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;

function makePlace(config: unknown = {}, answer = false) {
  const docker = makeFakeDocker();
  const settings = { config: JSON.stringify(config), env: { PATH: docker.path }, columns: 200, now: NOW, confirms: answer };
  const { run, path, stateDir: state } = openCommandLine("sandbox", sandbox, settings);
  mkdirSync(join(state, "sandbox"), { recursive: true });
  const registry = join(state, "sandbox/containers.json");
  const entry = (name: string, sessionKey: string) => ({
    containerName: name,
    sessionKey,
    createdAtMs: NOW - 2 * HOUR,
    lastUsedAtMs: NOW - HOUR,
    image: "old:1",
  });
  const put = (...entries: object[]): void => writeFileSync(registry, JSON.stringify({ entries }));
  const left = (): string[] => (JSON.parse(readFileSync(registry, "utf8")) as { entries: { containerName: string }[] }).entries.map((one) => one.containerName);
  return { run, docker, entry, put, left, state, write: (text: string) => writeFileSync(path, text) };
}

const GROUPS = { agents: { defaults: { sandbox: { mode: "non-main" } } } };

test("explain: main outside, a group inside, with the reason that its backend does not work", async () => {
  const place = makePlace(GROUPS);
  expect((await place.run("explain", "--json")).json()).toMatchObject({
    agentId: "main",
    sessionKey: "agent:main:main",
    mainSessionKey: "agent:main:main",
    sandbox: { mode: "non-main", scope: "agent", sessionIsSandboxed: false, workspaceRoot: join(place.state, "sandboxes"), available: { ok: true } },
    elevated: { enabled: true, allowedByConfig: false },
  });
  place.docker.breakDown("Cannot connect to the Docker daemon");
  const { out, code } = await place.run("explain", "--session", "agent:main:telegram:group:42");
  expect(code ?? 0).toBe(0);
  expect(out).toMatch(/^Effective sandbox\n/);
  expect(out).toMatch(/runtime +sandboxed\n/);
  expect(out).toMatch(/backend +docker \(not available here: .*Cannot connect to the Docker daemon\)\n/);
  expect(out).toMatch(/allow \(default\) +exec, process, read/);
  expect(out).toMatch(/failing gate +allowFrom \(tools\.elevated\.allowFrom\.telegram\)/);
  expect(out).toContain("- agents.defaults.sandbox.mode=off\n");
});

test("explain: an unknown agent is reported with those that exist", async () => {
  expect(await makePlace().run("explain", "--agent", "nobody")).toMatchObject({ code: 1, err: expect.stringContaining("there are: main") });
});

test("list: containers with state, age, and whether their image is still the one", async () => {
  const place = makePlace(GROUPS);
  expect((await place.run("list")).out).toBe("No containers\n");
  place.put(place.entry("openclaw-sbx-a", "agent:main"), place.entry("openclaw-sbx-b", "shared"));
  place.docker.stop("openclaw-sbx-a");
  expect((await place.run("list", "--json")).json()).toEqual({
    containers: [
      expect.objectContaining({ containerName: "openclaw-sbx-a", state: "stopped", running: false, imageMatch: false, ageMs: 2 * HOUR, idleMs: HOUR }),
      expect.objectContaining({ containerName: "openclaw-sbx-b", state: "absent" }),
    ],
    browsers: [],
  });
  expect((await place.run("list")).out).toMatch(/openclaw-sbx-a +stopped +old:1 \(a different image is configured\) +2h +1h +agent:main\n/);
});

test("recreate: those that were chosen go, after a question, and the rest stays", async () => {
  const place = makePlace();
  const entries = [place.entry("one", "agent:main"), place.entry("two", "agent:main:telegram:group:1"), place.entry("three", "agent:mainly")];
  place.put(...entries);
  for (const args of [[], ["--all", "--agent", "main"]]) {
    expect(await place.run("recreate", ...args)).toMatchObject({ code: 1, err: expect.stringContaining("--all, --session <key> or --agent <id>") });
  }
  expect(await place.run("recreate", "--agent", "main")).toMatchObject({ code: 1, err: expect.stringContaining("cancelled") });
  expect(place.left()).toHaveLength(3);
  expect((await place.run("recreate", "--agent", "main", "--force", "--json")).json()).toEqual({ removed: ["one", "two"] });
  expect(place.left()).toEqual(["three"]);
  expect(place.docker.calls()).toEqual([
    ["rm", "-f", "one"],
    ["rm", "-f", "two"],
  ]);
  const willing = makePlace({}, true);
  willing.put(...entries);
  expect((await willing.run("recreate", "--session", "agent:main:telegram:group:1")).out).toContain("Removed 1");
  expect(willing.left()).toEqual(["one", "three"]);
});

test("recreate: a container that docker does not let go stays in the list", async () => {
  const place = makePlace();
  place.put(place.entry("one", "agent:main"));
  place.docker.breakDown("permission denied");
  expect(await place.run("recreate", "--all", "--force")).toMatchObject({ code: 1, err: expect.stringContaining("could not remove one: permission denied") });
  expect(place.left()).toEqual(["one"]);
});

const PAGE = readFileSync(join(ROOT, "docs/agent/sandbox.md"), "utf8");
const blocks = (kind: string): readonly string[] => [...PAGE.matchAll(new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``, "g"))].map((match) => match[1]!.trim());

test.each(blocks("sh").flatMap((block) => block.split("\n")))("as the page shows it: %s", async (line) => {
  const [program, command, ...args] = line.split(" ");
  expect([program, command]).toEqual(["openclaw", "sandbox"]);
  const { code, out } = await makePlace(GROUPS).run(...args);
  expect(code ?? 0).toBe(0);
  expect(out).not.toBe("");
});

test.each(blocks("json5"))("the page's settings are good ones: %s", async (text) => {
  const place = makePlace();
  place.write(text);
  const explained = (await place.run("explain", "--session", "agent:main:telegram:group:42", "--json")).json();
  expect(explained).toMatchObject({ sandbox: { backend: "bwrap", sessionIsSandboxed: true } });
});

test("the page's defaults are those of the settings", () => {
  const settings = sandboxSettings({}, "main", "/state");
  const shown = (key: string): string | undefined => new RegExp(`^\\| \`${key}\` \\|.*\\| (.*?) \\|$`, "m").exec(PAGE)?.[1]?.replaceAll("`", "");
  expect({ mode: shown("mode"), scope: shown("scope"), access: shown("workspaceAccess"), backend: shown("backend"), prune: shown("prune") }).toEqual({
    mode: settings.mode,
    scope: settings.scope,
    access: settings.workspaceAccess,
    backend: settings.backend,
    prune: `${settings.prune.idleHours}, ${settings.prune.maxAgeDays}`,
  });
  expect([shown("pidsLimit"), shown("network")]).toEqual([String(settings.bwrap.pidsLimit), settings.bwrap.network]);
});
