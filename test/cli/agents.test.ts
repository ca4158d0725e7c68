import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { agents } from "../../src/cli/commands/groups.ts";
import { loadConfig } from "../../src/config/index.ts";
import { openStore } from "../../src/store/index.ts";
import { openCommandLine } from "../harness/command-line.ts";

const TWO = `{
  // Who answers.
  agents: {
    list: [
      { id: "main", name: "Me" }, // the first
      { id: "work", workspace: "~/business", model: "builtin/offline" },
    ],
  },
  channels: { telegram: { enabled: false, botToken: "1:x", accounts: { office: { enabled: false } } } },
  bindings: [
    { agentId: "work", match: { channel: "telegram", accountId: "office" } }, // stays
  ],
  tools: { agentToAgent: { allow: ["main", "work"] } },
}
`;

function open(config: string | null = TWO, confirms = false) {
  const at = openCommandLine<Record<string, unknown>>("agents", agents, { config, confirms });
  const text = (): string => (existsSync(at.path) ? readFileSync(at.path, "utf8") : "");
  const current = () => loadConfig({ path: at.path, env: {}, osHome: at.home, cwd: at.home }).snapshot;
  return { ...at, text, current, agent: (id: string) => current().config.agents?.list?.find((one) => one.id === id) };
}

describe("agents list", () => {
  test("shows who there is, in the documented form", async () => {
    const at = open();
    const { code, json } = await at.run("list", "--json");
    expect(code).toBe(0);
    const [main, work] = json() as unknown as Record<string, unknown>[];
    expect(main).toMatchObject({ id: "main", name: "Me", bindings: 0, isDefault: true, sessions: 0, workspace: join(at.stateDir, "workspace") });
    expect(work).toMatchObject({
      id: "work",
      workspace: join(at.home, "business"),
      agentDir: join(at.stateDir, "agents", "work", "agent"),
      model: "builtin/offline",
      bindings: 1,
      isDefault: false,
      routes: ["telegram accountId=office"],
    });
    expect(work).not.toHaveProperty("bindingDetails");
    expect(((await at.run("list", "--bindings", "--json")).json() as unknown as object[])[1]).toMatchObject({ bindingDetails: ["telegram accountId=office"] });
  });

  test("is a table for people, with what each of them answers", async () => {
    const { out } = await open().run("list", "--bindings");
    expect(out).toMatch(/main \(default\) +Me /);
    expect(out).toMatch(/work +- +builtin\/offline +1 +0/);
    expect(out).toContain("telegram accountId=office");
    expect((await open(null).run()).out).toContain("main (default)");
  });
});

describe("agents add", () => {
  test("adds one with a workspace of its own beside the one that needs no configuration", async () => {
    const at = open("{\n  // mine\n}\n");
    const { code, json, err } = await at.run("add", "Night Shift", "--json");
    expect([code, err]).toEqual([0, ""]);
    const workspace = join(at.stateDir, "workspace-night-shift");
    expect(json()).toMatchObject({
      agentId: "night-shift",
      name: "Night Shift",
      workspace,
      agentDir: join(at.stateDir, "agents", "night-shift", "agent"),
      bindings: { added: [], skipped: [], conflicts: [] },
    });
    expect(readdirSync(workspace)).toEqual(expect.arrayContaining(["AGENTS.md", "SOUL.md", "BOOTSTRAP.md"]));
    expect(at.text()).toContain("// mine");
    expect(at.current().config.agents?.list).toEqual([{ id: "main" }, { id: "night-shift", name: "Night Shift", workspace }]);
  });

  test.each(["personal", "coder", "family", "readonly"])("begins with the template %s", async (template) => {
    const at = open();
    const { code, out } = await at.run("add", "extra", "--template", template, "--bind", "telegram");
    expect(code).toBe(0);
    expect(out).toContain(`from the template ${template}`);
    const { valid, config } = at.current();
    expect(valid).toBe(true);
    expect(config.bindings?.at(-1)).toEqual({ agentId: "extra", match: { channel: "telegram" } });
    const files = readdirSync(join(at.stateDir, "workspace-extra"));
    expect(files.includes("BOOTSTRAP.md")).toBe(template === "personal" || template === "coder");
    if (template === "coder") expect(at.agent("extra")).toMatchObject({ tools: { profile: "coding" }, identity: { name: "extra", emoji: "🛠️" } });
    if (template === "readonly") expect(at.agent("extra")?.tools?.deny).toEqual(expect.arrayContaining(["group:runtime", "write"]));
    if (template === "family") expect(at.agent("extra")?.groupChat?.mentionPatterns).toContain("@extra");
  });

  test("writes what the flags say, and leaves files alone that are there", async () => {
    const at = open();
    mkdirSync(join(at.home, "code"));
    writeFileSync(join(at.home, "code", "AGENTS.md"), "mine");
    const flags =
      "--template coder --workspace code --agent-dir ~/dir --model builtin/offline --bind telegram:* --bind telegram:office --non-interactive --json";
    const { code, json } = await at.run("add", "coder", ...flags.split(" "));
    expect(code).toBe(0);
    expect(json()).toMatchObject({
      workspace: join(at.home, "code"),
      agentDir: join(at.home, "dir"),
      bindings: { added: ["telegram accountId=*"], skipped: [], conflicts: ["telegram accountId=office (agent=work)"] },
    });
    expect(readFileSync(join(at.home, "code", "AGENTS.md"), "utf8")).toBe("mine");
    expect(at.agent("coder")).toMatchObject({ agentDir: join(at.home, "dir"), model: "builtin/offline" });
    for (const kept of ["// Who answers.", "// the first", "// stays"]) expect(at.text()).toContain(kept);
  });

  test.each<readonly [string, readonly string[], RegExp]>([
    ["an id that is taken", ["add", "Work"], /agent "work" already exists/],
    ["the reserved id", ["add", "main"], /"main" is reserved/],
    ["a path as its name", ["add", "../../etc"], /is not a valid agent name/],
    ["a name without a letter", ["add", "!!!"], /needs a letter/],
    ["no name", ["add"], /expected a name/],
    ["two names", ["add", "a", "b"], /expected one name/],
    ["no workspace, and nobody to ask", ["add", "x", "--non-interactive"], /--non-interactive needs --workspace/],
    ["a workspace that is a file", ["add", "x", "--workspace", "openclaw.json"], /is a file/],
    ["a workspace inside another agent's", ["add", "x", "--workspace", "~/business/inside"], /inside that of agent "work"/],
    ["another agent's workspace", ["add", "x", "--workspace", "~/business"], /is the workspace of agent "work"/],
    ["a workspace around everything", ["add", "x", "--workspace", "~"], /would contain/],
    ["another agent's folder of credentials", ["add", "x", "--agent-dir", "state/agents/work/agent"], /is the agentDir of agent "work"/],
    ["an unknown template", ["add", "x", "--template", "codr"], /did you mean coder\?/],
    ["an unknown channel", ["add", "x", "--bind", "telegrm"], /did you mean telegram\?/],
    ["an account without a channel", ["add", "x", "--bind", ":office"], /expected a channel/],
    ["a model of an unknown provider", ["add", "x", "--model", "nobody/nothing"], /Unknown model: nobody\/nothing/],
    ["an unknown model", ["add", "x", "--model", "anthropic/claude-opus-4-66"], /did you mean anthropic\/claude-opus-4-6\?/],
    ["an unknown built-in model", ["add", "x", "--model", "builtin/huge"], /Unknown model: builtin\/huge/],
  ])("refuses %s and changes nothing", async (_, args, message) => {
    const at = open();
    const { code, json } = await at.run(...args, "--json");
    expect(code).toBe(1);
    expect((json()["error"] as { message: string }).message).toMatch(message);
    expect(at.text()).toBe(TWO);
    expect([existsSync(join(at.stateDir, "workspace-x")), existsSync(join(at.home, "business"))]).toEqual([false, false]);
  });

  test("a configuration with errors is left as it is", async () => {
    const at = open("{ agents: { list: [{ id: 5 }] } }");
    const { code, err } = await at.run("add", "x");
    expect([code, err.includes("openclaw config validate")]).toEqual([1, true]);
    expect(existsSync(join(at.stateDir, "workspace-x"))).toBe(false);
  });
});

describe("agents bind, unbind and bindings", () => {
  test("add and remove what goes to an agent", async () => {
    const at = open();
    const bound = await at.run("bind", "main", "--channel", "telegram", "--peer", "group:-1001", "--json");
    expect(bound.json()).toMatchObject({ agentId: "main", added: ["telegram peer=group:-1001"], skipped: [], conflicts: [] });
    expect(at.current().config.bindings?.at(-1)).toEqual({ agentId: "main", match: { channel: "telegram", peer: { kind: "group", id: "-1001" } } });
    expect((await at.run("bind", "main", "--channel", "telegram", "--peer", "group:-1001")).out).toContain("No changes");
    expect((await at.run("bindings", "--json")).json()).toMatchObject([{ agentId: "work" }, { path: "bindings[1]", agentId: "main" }]);
    expect((await at.run("bindings", "main")).out).toContain("telegram peer=group:-1001");
    const unbound = await at.run("unbind", "work", "--all", "--json");
    expect(unbound.json()).toMatchObject({ removed: ["telegram accountId=office"] });
    expect((await at.run("unbind", "main", "--channel", "telegram", "--peer", "group:-1001")).code).toBe(0);
    expect(at.current().config.bindings ?? []).toEqual([]);
    expect((await at.run("bindings")).out).toContain("No bindings");
    expect(at.text()).toContain("// Who answers.");
  });

  test("a clash is explained with the binding that decides, and nothing is changed", async () => {
    const at = open();
    const { code, err } = await at.run("bind", "main", "--bind", "telegram", "--bind", "telegram:office");
    expect(code).toBe(1);
    expect(err).toContain('telegram accountId=office is already bound to agent "work" by bindings[0]');
    expect(err).toContain("openclaw agents unbind work --channel telegram --account=office");
    expect(at.text()).toBe(TWO);
  });

  test("what is bound but not set up yet is said", async () => {
    const at = open();
    expect((await at.run("bind", "main", "--bind", "irc")).err).toContain("irc is not set up yet: openclaw channels add --channel irc");
    expect((await at.run("bind", "main", "--bind", "telegram:home")).err).toContain('telegram has no account "home" yet; it has default, office');
  });

  test.each<readonly [readonly string[], RegExp]>([
    [["bind", "wrk", "--bind", "telegram"], /did you mean work\?/],
    [["bind", "work"], /expected a channel or account to bind/],
    [["bind", "work", "--peer", "group:1"], /need --channel/],
    [["bind", "work", "--channel", "telegram", "--peer", "1"], /expected a kind and an id/],
    [["bind", "work", "--agent", "main", "--bind", "telegram"], /expected one agent/],
    [["unbind", "work"], /expected --bind, --channel or --all/],
    [["unbind", "work", "--bind", "irc"], /has no such binding/],
  ])("%j is refused", async (args, message) => {
    const at = open();
    const { code, err } = await at.run(...args);
    expect([code, err]).toEqual([1, expect.stringMatching(message)]);
    expect(at.text()).toBe(TWO);
  });
});

describe("agents delete", () => {
  test("removes the agent and what leads to it; its files go to the trash, nothing of another is touched", async () => {
    const at = open();
    mkdirSync(join(at.home, "business"));
    writeFileSync(join(at.home, "business", "notes.md"), "kept");
    mkdirSync(join(at.stateDir, "agents", "work", "sessions"), { recursive: true });
    mkdirSync(join(at.stateDir, "agents", "main", "agent"), { recursive: true });
    const { code, json } = await at.run("delete", "WORK", "--force", "--json");
    expect(code).toBe(0);
    const answer = json();
    expect(answer).toMatchObject({
      agentId: "work",
      workspace: join(at.home, "business"),
      agentDir: join(at.stateDir, "agents", "work", "agent"),
      sessionsDir: join(at.stateDir, "agents", "work", "sessions"),
      removedBindings: 1,
      removedAllow: 1,
    });
    const [moved] = answer["files"] as { state: string; to: string }[];
    expect(readFileSync(join(moved!.to, "notes.md"), "utf8")).toBe("kept");
    expect([existsSync(join(at.home, "business")), existsSync(join(at.stateDir, "agents", "work"))]).toEqual([false, false]);
    expect(existsSync(join(at.stateDir, "agents", "main", "agent"))).toBe(true);
    expect(at.current().config.agents?.list).toEqual([{ id: "main", name: "Me" }]);
    expect(at.text()).toContain("// the first");
  });

  test("its scheduled jobs are switched off and named; those of others go on", async () => {
    const at = open();
    mkdirSync(at.stateDir, { recursive: true });
    {
      await using store = await openStore({ stateDir: at.stateDir, clock: systemClock });
      for (const [id, agentId] of [
        ["a", "work"],
        ["b", "main"],
      ] as const)
        await store.write("cron.job.put", { id, agentId, enabled: true, nextRunAt: 5, job: { id, agentId, name: `job ${id}`, enabled: true } });
    }
    expect((await at.run("delete", "work", "--force")).out).toContain("scheduled job job a is now disabled. Remove it with: openclaw cron rm a");
    await using store = await openStore({ stateDir: at.stateDir, clock: systemClock });
    const rows = (await store.read("cron.job.list", {})).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(rows.map(({ id, enabled, nextRunAt }) => [id, enabled, nextRunAt])).toEqual([
      ["a", false, null],
      ["b", true, 5],
    ]);
    expect(rows[0]?.job).toMatchObject({ name: "job a", enabled: false });
  });

  test.each<readonly [string, string, RegExp]>([
    ["main", TWO, /"main" cannot be deleted/],
    ["wrk", TWO, /did you mean work\?/],
    ["only", '{ agents: { list: [{ id: "only" }] } }', /is the default.*add another agent first/],
    ["a", '{ agents: { list: [{ id: "b" }, { id: "a", default: true }] } }', /is the default.*openclaw config set agents\.list\[0\]\.default true/],
  ])("%s is not deleted", async (id, config, message) => {
    const at = open(config);
    const { code, err } = await at.run("delete", id, "--force");
    expect([code, err]).toEqual([1, expect.stringMatching(message)]);
    expect(at.text()).toBe(config);
  });

  test("asks first, and needs --force where nobody can answer", async () => {
    const at = open();
    const { code, err } = await at.run("delete", "work");
    expect([code, err]).toEqual([1, expect.stringContaining("add --force")]);
    expect(at.text()).toBe(TWO);
  });
});

describe("agents set-identity", () => {
  test("writes what the flags say, and takes away what is empty", async () => {
    const at = open();
    const { code, json } = await at.run("set-identity", "--agent", "work", "--name", "Ada", "--emoji", "🧮", "--theme", "calm", "--json");
    expect(code).toBe(0);
    expect(json()).toMatchObject({
      agentId: "work",
      identity: { name: "Ada", emoji: "🧮", theme: "calm" },
      workspace: join(at.home, "business"),
      identityFile: null,
    });
    await at.run("set-identity", "--agent", "work", "--theme", "");
    expect(at.agent("work")?.identity).toEqual({ name: "Ada", emoji: "🧮" });
    expect(at.text()).toContain("// the first");
  });

  test("reads IDENTITY.md; flags come before it", async () => {
    const at = open();
    mkdirSync(join(at.home, "business"));
    writeFileSync(join(at.home, "business", "IDENTITY.md"), "# Identity\n- **Name:** Bo\n- **Creature:** owl\n- **Emoji:** 🦉\n");
    const { json } = await at.run("set-identity", "--workspace", "business", "--from-identity", "--emoji", "🐦", "--json");
    expect(json()).toMatchObject({
      agentId: "work",
      identity: { name: "Bo", theme: "owl", emoji: "🐦" },
      identityFile: join(at.home, "business", "IDENTITY.md"),
    });
    writeFileSync(join(at.home, "other.md"), "Name: Cy\n");
    expect((await at.run("set-identity", "--agent", "main", "--identity-file", "other.md", "--json")).json()).toMatchObject({ identity: { name: "Cy" } });
  });

  test.each<readonly [readonly string[], RegExp]>([
    [["--name", "x"], /expected --agent or --workspace; agents: main, work/],
    [["--agent", "work"], /expected --name, --theme, --emoji, --avatar or --from-identity/],
    [["--agent", "work", "--from-identity"], /IDENTITY\.md does not exist/],
    [["--workspace", "nowhere", "--name", "x"], /no agent has the workspace/],
    [["--agent", "work", "--avatar", "../x.png"], /must not leave the workspace/],
    [["work", "--name", "x"], /choose the agent with --agent/],
  ])("%j is refused", async (args, message) => {
    const at = open();
    const { code, err } = await at.run("set-identity", ...args);
    expect([code, err]).toEqual([1, expect.stringMatching(message)]);
    expect(at.text()).toBe(TWO);
  });
});

test("agents templates lists what an agent can begin with", async () => {
  const { json } = await open().run("templates", "--json");
  expect((json() as unknown as { id: string; files: string[] }[]).map(({ id }) => id)).toEqual(["personal", "coder", "family", "readonly"]);
  expect((await open().run("templates")).out).toMatch(/readonly +Read-only helper/);
});
