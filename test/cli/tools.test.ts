import { describe, expect, test } from "vitest";
import { tools } from "../../src/cli/commands/groups.ts";
import { openCommandLine } from "../harness/command-line.ts";
import { startScripted } from "../harness/scripted-gateway.ts";

type Json = Record<string, never> & { tools: Record<string, unknown>[] };

const makePlace = (config = "{}", color = false) => openCommandLine<Json>("tools", tools, { config, color });

describe("without a gateway", () => {
  test("the configuration is explained, and it is said that it is only that", async () => {
    const { run } = makePlace(`{ tools: { deny: ["group:runtime"] } }`);
    const { code, out, err } = await run("explain", "BASH");
    expect(code).toBe(0);
    expect(err).toBe("No gateway is running. Showing built-in tools from the configuration\n");
    expect(out.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["tool", "exec"],
      ["from", "core"],
      ["session", "agent:main:main"],
      ["agent", "main"],
      ["allowed", "no"],
      ["decided by", "global"],
      ["path", "tools.deny[0]"],
      ["entry", "group:runtime"],
      ["why", '"group:runtime" is denied by tools.deny[0]'],
      [""],
    ]);
  });

  test.each<[string, string, readonly string[], object]>([
    [
      "of the agent that is named",
      `{ agents: { list: [{ id: "main" }, { id: "Kid", tools: { profile: "minimal" } }] } }`,
      ["exec", "--agent", "kid"],
      { sessionKey: "agent:kid:main", layer: "profile", path: "agents.list[1].tools.profile" },
    ],
    [
      "of the default agent",
      `{ agents: { list: [{ id: "a" }, { id: "b", default: true, tools: { deny: ["exec"] } }] } }`,
      ["exec"],
      { agentId: "b", layer: "agent" },
    ],
    [
      "of a session's agent",
      `{ agents: { list: [{ id: "a", tools: { deny: ["exec"] } }, { id: "b", default: true }] } }`,
      ["exec", "--session", "agent:a:telegram:direct:7"],
      { agentId: "a", allowed: false },
    ],
    [
      "of a sandboxed session",
      `{ agents: { defaults: { sandbox: { mode: "non-main" } } } }`,
      ["web_fetch", "--session", "agent:main:telegram:direct:7"],
      { layer: "sandbox", allowed: false },
    ],
    ["of a main session beside it", `{ agents: { defaults: { sandbox: { mode: "non-main" } } } }`, ["web_fetch"], { layer: "default", allowed: true }],
    ["of a subagent", "{}", ["sessions_spawn", "--session", "subagent:1"], { layer: "subagent", allowed: false, sessionKey: "agent:main:subagent:1" }],
    [
      "with the model that is configured",
      `{ agents: { defaults: { model: "openai/gpt-5.2" } }, tools: { byProvider: { "OpenAI/gpt-5.2": { deny: ["exec"] } } } }`,
      ["exec"],
      { layer: "provider", path: 'tools.byProvider["OpenAI/gpt-5.2"].deny[0]' },
    ],
    ["about the canvas", "{}", ["canvas"], { allowed: true }],
    ["about the canvas that is off", "{ canvasHost: { enabled: false } }", ["canvas"], { allowed: false, path: "canvasHost.enabled" }],
    ["about memory", "{}", ["memory_search"], { allowed: true }],
    ["about memory that is off", `{ plugins: { slots: { memory: "none" } } }`, ["memory_search"], { allowed: false, path: "plugins.slots.memory" }],
    ["about messages without a channel", "{}", ["message"], { allowed: false, path: "channels" }],
    ["about messages with one", `{ channels: { telegram: { enabled: true } } }`, ["message"], { allowed: true }],
    ["about patches", "{}", ["apply_patch"], { allowed: false, path: "tools.exec.applyPatch" }],
    [
      "about patches for a model that knows them",
      `{ agents: { defaults: { model: "openai/gpt-5.2" } }, tools: { exec: { applyPatch: { enabled: true } } } }`,
      ["apply_patch"],
      { allowed: true },
    ],
    ["about a search that is off", `{ tools: { web: { search: { enabled: false } } } }`, ["web_search"], { allowed: false, path: "tools.web.search.enabled" }],
    ["about fetching that is off", `{ tools: { web: { fetch: { enabled: false } } } }`, ["web_fetch"], { allowed: false, path: "tools.web.fetch.enabled" }],
  ])("the rules %s", async (_, config, args, expected) => {
    const { json } = await makePlace(config).run("explain", ...args, "--json");
    const { tools: rows, ...session } = json();
    expect({ ...session, ...rows[0] }).toMatchObject({ from: "configuration", ...expected });
  });

  test("what is allowed without a gateway is what a gateway with the same configuration offers", async () => {
    const { json } = await makePlace().run("explain", "--json");
    const allowed = json().tools.flatMap(({ name, allowed: is }) => (is ? [String(name)] : []));
    expect(allowed.toSorted()).toEqual(
      "agents_list browser canvas cron edit exec find gateway grep image ls nodes process read session_status sessions_history sessions_list sessions_send sessions_spawn subagents tts web_fetch web_search write".split(
        " ",
      ),
    );
  });

  test.each<[string, readonly string[], RegExp]>([
    ["a tool", ["exce"], /tool "exce" not found; did you mean exec\?/],
    ["an agent", ["--agent", "mein"], /there is no agent "mein"; did you mean main\?/],
    ["a session's agent", ["--session", "agent:nobody:main"], /--session: unknown agent id "nobody"/],
    ["a session", ["--session", "agent:"], /--session: malformed session key/],
    ["a session of another agent", ["--agent", "main", "--session", "agent:kid:main"], /belongs to agent kid, but --agent is main/],
  ])("%s that is not there is named", async (_, args, expected) => {
    const { code, err } = await makePlace(`{ agents: { list: [{ id: "main" }, { id: "kid" }] } }`).run("explain", ...args);
    expect(code).not.toBe(0);
    expect(err).toMatch(expected);
  });

  test("the built-in tools are listed with their groups", async () => {
    const { out } = await makePlace().run("list");
    expect(out).toMatch(/^cron +built in +owner only +group:automation group:openclaw$/m);
    const { tools: rows, ...rest } = (await makePlace().run("list", "--json")).json();
    expect(rest).toEqual({ from: "configuration", count: rows.length });
    expect(rows.find(({ name }) => name === "exec")).toEqual({ name: "exec", source: "core", groups: ["group:runtime"] });
  });

  test("a terminal gets colours", async () => {
    const { out } = await makePlace(`{ tools: { deny: ["exec"] } }`, true).run();
    expect(out.match(/\nexec .*/)?.[0]).toContain("\u001B[31mno\u001B[0m");
    expect(out.match(/\nread .*/)?.[0]).toContain("\u001B[32myes\u001B[0m");
  });
});

describe("with a gateway", () => {
  const DICE = { name: "dice", allowed: true, layer: "default", why: "no policy list applies", source: "plugin:dice" };

  test("it is asked, and its answer shown", async () => {
    await using gateway = await startScripted();
    const { run, lock } = makePlace();
    lock(gateway.url);
    const visit = (async () => {
      const visitor = await gateway.visitor();
      await visitor.welcome();
      const asked = await visitor.take();
      visitor.answer(asked, { agentId: "kid", sessionKey: "agent:kid:main", tools: [DICE] });
      return asked;
    })();
    const { out, err } = await run("explain", "dice", "--agent", "kid");
    expect(await visit).toMatchObject({ method: "tools.explain", params: { agentId: "kid", tool: "dice" } });
    expect(out).toMatch(/from +plugin:dice\n/);
    expect(err).toBe("");
  });

  test("its list has the tools of plugins", async () => {
    await using gateway = await startScripted();
    const { run, lock } = makePlace();
    lock(gateway.url);
    const visit = (async () => {
      const visitor = await gateway.visitor();
      await visitor.welcome();
      visitor.answer(await visitor.take(), {
        agentId: "main",
        tools: [{ name: "dice", description: "rolls", source: "plugin", pluginId: "games", optional: true, parameters: {} }],
      });
    })();
    const { out } = await run("list");
    await visit;
    expect(out).toMatch(/^dice +plugin games +optional +group:plugins$/m);
  });

  test.each([
    { code: "UNAVAILABLE", message: "tools.explain is not available" },
    { code: "INVALID_REQUEST", message: "unknown method: tools.explain" },
  ])("one that knows nothing of tools is done without: $message", async (error) => {
    await using gateway = await startScripted();
    const { run, lock } = makePlace();
    lock(gateway.url);
    const visit = (async () => {
      const visitor = await gateway.visitor();
      await visitor.welcome();
      visitor.refuse(await visitor.take(), error);
    })();
    expect((await run("explain", "exec", "--json")).json()).toMatchObject({ from: "configuration" });
    await visit;
  });

  test("what it refuses is reported", async () => {
    await using gateway = await startScripted();
    const { run } = makePlace();
    const visit = (async () => {
      const visitor = await gateway.visitor();
      await visitor.welcome();
      visitor.refuse(await visitor.take(), { code: "INVALID_REQUEST", message: 'unknown tool "dcie"' });
    })();
    const { code, err } = await run("explain", "dcie", "--url", gateway.url, "--token", "t");
    await visit;
    expect(code).not.toBe(0);
    expect(err).toContain('unknown tool "dcie"');
  });
});
