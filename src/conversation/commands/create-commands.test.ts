import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AppError } from "../../base/errors.ts";
import type { PluginCommandResult } from "../../protocol/index.ts";
import { chosenModel, KEY, setup, textOf } from "./commands.fixture.ts";

describe("a message", () => {
  test("that is no command goes on as it is, whatever it says", async () => {
    const { run, commands, log } = setup();
    const words = /^\s*(?:stop|esc|abort|wait|exit|interrupt)\s*$/i;
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "binary", maxLength: 200 }).filter((text) => !text.includes("/") && !words.test(text)),
        fc.boolean(),
        fc.boolean(),
        async (text, authorized, isGroup) => {
          expect(await run(text, { authorized, isGroup })).toEqual({ kind: "turn", text, asides: [], notes: [] });
          expect(commands.isControl(text)).toBe(false);
        },
      ),
      { numRuns: 400 },
    );
    expect(log).toEqual([]);
  });

  test.each(["/something else", "see /usr/bin", "/", "/ status", "//status", "/dock-telegram", "/status@them", "!ls", "1/2", "stop it", "/stop now"])(
    "%j is text",
    async (text) => {
      expect(await setup().run(text, { botUsername: "us" })).toMatchObject({ kind: "turn", text, asides: [] });
    },
  );

  test.each([
    ["4 MB of text", "x".repeat(4_000_000)],
    ["4 MB of slashes", "/".repeat(4_000_000)],
    ["4 MB of settings", "/t ".repeat(1_300_000)],
    ["4 MB of brackets", "[".repeat(4_000_000)],
    ["4 MB of blanks", `${" ".repeat(4_000_000)}x/`],
    ["10,000 mentions", `${"@us ".repeat(10_000)}/x`],
    ["10,000 numbers", `${"@4366412345 ".repeat(10_000)}/x`],
  ])("of %s stays text", async (_name, text) => {
    const { run, commands } = setup({ config: { agents: { list: [{ id: "main", identity: { name: "us" } }] } } });
    expect(await run(text, { isGroup: true, botUsername: "us" })).toMatchObject({ kind: "turn", text });
    commands.isControl(text, { botUsername: "us" });
  });
});

describe("what bypasses waiting", () => {
  const { commands } = setup({
    config: { session: { resetTriggers: ["fresh start"] }, agents: { defaults: { models: { "openai/gpt-5.2": { alias: "gpt" } } } } },
  });
  test.each([
    "/status",
    " /STATUS ",
    "/status:",
    "/think high",
    "stop",
    "Stop",
    "[Telegram Ann] /stop",
    "/stop\nplease",
    "@us /status",
    "/status@us",
    "/export_session",
    "/new hello",
    "fresh start",
    "/GPT",
  ])("%j does", (text) => {
    expect(commands.isControl(text, { botUsername: "us" })).toBe(true);
  });
  test.each(["hello", "hey /status", "/status please", "/status@them", "/unknown", "!ls", "stop it", "/status\nand more", "/gpt hello"])(
    "%j does not",
    (text) => {
      expect(commands.isControl(text, { botUsername: "us" })).toBe(false);
    },
  );
});

describe("a sender who may not give commands", () => {
  const unauthorised = { authorized: false, owner: false } as const;

  test.each(["/status", "/new", "/model opus", "/think high", "/think high /verbose on", "/config show", "/models", "/allowlist bogus bogus", "/activation"])(
    "gets silence for %j",
    async (text) => {
      const { run, log } = setup({ config: { commands: { config: true } } });
      expect(await run(text, unauthorised)).toMatchObject({ kind: "answered", reply: [], outcome: "refused" });
      expect(log).toEqual([]);
    },
  );

  test.each(["/stop", "stop", "/STOP:"])("may stop what runs with %j", async (text) => {
    const { say, log } = setup({ config: { commands: { allowFrom: { telegram: ["1"] }, ownerAllowFrom: ["1"] } } });
    expect(await say(text, unauthorised)).toBe("Stopped. Also dropped 2 waiting messages, killed 1 process.");
    expect(log[0]).toBe("stop agent:main:main");
  });

  test("keeps settings inside of a text as text", async () => {
    expect(await setup().run("hey /status, /think high please", unauthorised)).toEqual({
      kind: "turn",
      text: "hey /status, /think high please",
      asides: [],
      notes: [],
    });
  });
});

describe("settings", () => {
  test("that stand alone are stored and acknowledged in one message, in order", async () => {
    const { say, entry } = setup();
    expect(await say("/verbose on /think high")).toBe("Thinking: high. Verbose: each tool is shown when it starts.");
    expect(entry()).toMatchObject({ thinkingLevel: "high", verboseLevel: "on" });
  });

  test("with the status below", async () => {
    expect(await setup().say("/think low /status")).toMatch(/^Thinking: low\.\n\*\*OpenClaw 1\.2\.3\*\*/);
  });

  test("in a group stand alone beside a mention", async () => {
    const { say, entry } = setup({ config: { agents: { list: [{ id: "main", identity: { name: "Claw" } }] } } });
    expect(await say("@Claw /think high", { isGroup: true })).toBe("Thinking: high.");
    expect(entry()).toMatchObject({ thinkingLevel: "high" });
  });

  test("inside of a text hold for that message only", async () => {
    const { run, log } = setup();
    const verdict = await run("[Telegram Ann] solve it /think high /verbose on /model openai/gpt-5.2 now");
    expect(verdict).toMatchObject({ kind: "turn", text: "[Telegram Ann] solve it now", thinking: "high", hints: { verbose: "on", model: "openai/gpt-5.2" } });
    expect(log).toEqual([]);
  });

  test("that free commands are left out where a group did not speak to the agent", async () => {
    const { run } = setup();
    expect(await run("do /elevated full /exec host=gateway it", { isGroup: true })).toMatchObject({
      text: "do it",
      notes: ["/elevated was ignored: the agent was not mentioned", "/exec was ignored: the agent was not mentioned"],
    });
    expect(await run("do /elevated off /exec security=deny it", { isGroup: true })).toMatchObject({
      hints: { elevated: "off", exec: { execSecurity: "deny" } },
    });
    expect(await run("do /elevated full it", { isGroup: true, wasMentioned: true })).toMatchObject({ hints: { elevated: "full" } });
  });

  test("an alias of a model is a command", async () => {
    const config = { agents: { defaults: { models: { "openai/gpt-5.2": { alias: "Gpt" }, "openai/gpt-5-mini": { alias: "status" } } } } };
    const { say, run, entry } = setup({ config });
    expect(await say("/gpt")).toBe("Model set to gpt (openai/gpt-5.2).");
    expect(entry()).toMatchObject({ providerOverride: "openai", modelOverride: "gpt-5.2" });
    expect(await run("/gpt what is it?")).toMatchObject({ kind: "turn", text: "what is it?", hints: { model: "gpt" } });
    expect(await say("/status")).toContain("OpenClaw");
  });
});

describe("questions inside of a text", () => {
  test("are answered aside, and the rest goes on", async () => {
    const verdict = await setup().run("hey /whoami and /status");
    expect(verdict).toMatchObject({ kind: "turn", text: "hey and" });
    expect(textOf(verdict)).toMatch(/User id: 42[\s\S]+OpenClaw 1\.2\.3/);
  });

  test("stay where nothing can be answered aside", async () => {
    expect(await setup().run("hey /status", { canAnswerAside: false })).toEqual({ kind: "turn", text: "hey /status", asides: [], notes: [] });
    expect(await setup().say("/status", { canAnswerAside: false })).toContain("OpenClaw");
  });
});

describe("a new session", () => {
  test.each(["/new", "/reset"])("%s alone greets", async (text) => {
    const { run, log } = setup();
    const verdict = await run(text);
    expect(verdict).toMatchObject({ kind: "turn", text: expect.stringContaining("Greet the person") });
    expect(textOf(verdict)).toBe("New session · model anthropic/claude-opus-4-6");
    expect(log).toEqual([`hook ${text.slice(1)} ${KEY}`, `reset ${KEY} ${text.slice(1)}`]);
  });

  test.each([
    ["/new hello there\nfriend", "hello there\nfriend", undefined],
    ["/new openai/gpt-5.2 hello", "hello", "openai/gpt-5.2"],
    ["/new openai gpt-5.2 hello", "hello", "openai/gpt-5.2"],
    ["/new sonnet hello", "hello", "anthropic/claude-sonnet-4-6"],
    ["/new mini hello", "mini hello", undefined],
    ["/new openai is nice", "openai is nice", undefined],
    ["/new thinking about it", "thinking about it", undefined],
  ])("%j begins with %j", async (text, said, model) => {
    const { run, entry } = setup();
    expect(await run(text)).toMatchObject({ kind: "turn", text: said });
    expect(chosenModel(entry())).toBe(model);
  });

  test("settings in what is said hold, too", async () => {
    const { run } = setup();
    const verdict = await run("/new /think high hello");
    expect(verdict).toMatchObject({ kind: "turn", text: "hello", thinking: "high" });
    expect(textOf(verdict)).toContain("New session");
  });

  test("other words can ask for it", async () => {
    const { run, log } = setup({ config: { session: { resetTriggers: ["fresh start"] } } });
    expect(await run("Fresh start hello")).toMatchObject({ kind: "turn", text: "hello" });
    expect(log).toContain(`reset ${KEY} new`);
  });

  test("begins even when the models cannot be listed", async () => {
    const { run, log, errors } = setup({ ports: { models: { standard: fail, current: fail, levels: fail, list: fail } } });
    expect(await run("/new hello")).toMatchObject({ kind: "turn", text: "hello" });
    expect(log).toContain(`reset ${KEY} new`);
    expect(errors).toHaveLength(1);
  });

  test("messages of hooks are sent", async () => {
    const { say } = setup({ ports: { fire: () => Promise.resolve(["Saved."]) } });
    expect(await say("/new", { canAnswerAside: false })).toBe("Saved.");
  });
});

const fail = (): Promise<never> => Promise.reject(new AppError("UNAVAILABLE", "no models"));

describe("stopping", () => {
  test.each(["/stop", "stop", "ESC", "abort", "wait", "exit", "interrupt", "/stop\nnow!", "/stop@us"])(
    "%j stops what runs before anything else",
    async (text) => {
      const { run, log, entry } = setup();
      const verdict = await run(text, { botUsername: "us" });
      expect(verdict).toMatchObject({ kind: "answered", stopped: ["run-1"] });
      expect(textOf(verdict)).toBe("Stopped. Also dropped 2 waiting messages, killed 1 process.");
      expect(log[0]).toBe(`stop ${KEY}`);
      expect(log).toContain(`hook stop ${KEY}`);
      expect(entry()).toMatchObject({ abortedLastRun: true });
    },
  );

  test("from a menu means the chat's session", async () => {
    const { run, log } = setup();
    await run("/stop", { sessionKey: "telegram:slash:42", source: "native" }, { CommandTargetSessionKey: KEY });
    expect(log[0]).toBe(`stop ${KEY}`);
  });

  test("says so when there was nothing", async () => {
    const { say } = setup({ ports: { runs: { stop: () => Promise.resolve({ runIds: [] }), depth: () => 0 } } });
    expect(await say("/stop")).toBe("Nothing was running.");
  });
});

describe("commands in text switched off", () => {
  const config = { commands: { text: false } };
  test("are text where a menu offers them, except those that must always work", async () => {
    const { run, log } = setup({ config });
    expect(await run("/status")).toMatchObject({ kind: "turn", text: "/status" });
    expect(await run("/think high")).toMatchObject({ kind: "turn", text: "/think high" });
    await run("/stop");
    await run("/compact");
    await run("/new");
    expect(log.filter((line) => /^(?:stop|compact|reset)/.test(line))).toHaveLength(3);
  });

  test("are read from menus and where there is none", async () => {
    const { run } = setup({ config });
    expect(await run("/status", { source: "native" })).toMatchObject({ kind: "answered" });
    expect(await run("/status", { channel: "irc" })).toMatchObject({ kind: "answered" });
  });
});

describe("plugins' commands", () => {
  function withPlugin(result: PluginCommandResult) {
    const seen: Record<string, unknown>[] = [];
    const made = setup({
      ports: {
        plugins: {
          match: (text) =>
            /^\/pair(?:\s|$)/.test(text) ? { name: "pair", run: (context) => (seen.push({ ...context }), Promise.resolve(result)) } : undefined,
          list: () => [{ name: "pair", description: "Pair a phone", acceptsArgs: true }],
        },
      },
    });
    return { ...made, seen };
  }

  test("come first and get what is known", async () => {
    const { run, seen, commands } = withPlugin({ text: "paired" });
    expect(await run("/pair now", { authorized: false })).toMatchObject({ kind: "answered", reply: [{ text: "paired" }] });
    expect(seen[0]).toMatchObject({ commandBody: "/pair now", isAuthorizedSender: false, senderId: "42", sessionKey: KEY, sessionId: "0123456789abcdef" });
    expect(commands.isControl("/pair")).toBe(true);
  });

  test("may be silent, or let the agent go on", async () => {
    expect(await withPlugin({}).run("/pair")).toMatchObject({ kind: "answered", reply: [], outcome: "silent" });
    expect(await withPlugin({ text: "x", suppressReply: true }).run("/pair")).toMatchObject({ reply: [], outcome: "silent" });
    expect(await withPlugin({ text: "x", continueAgent: true }).run("/pair me")).toMatchObject({ kind: "turn", text: "/pair me", asides: [{ text: "x" }] });
  });
});

describe("failures", () => {
  test("that were expected are reported without secrets", async () => {
    const { say } = setup({ ports: { status: { facts: () => Promise.reject(new AppError("UNAVAILABLE", "no sk-secret here")) } } });
    expect(await say("/status")).toBe("⚠️ no *** here");
  });

  test("that were not are logged", async () => {
    const { say, errors } = setup({ ports: { status: { facts: () => Promise.reject(new TypeError("internal detail")) } } });
    expect(await say("/status")).toBe("⚠️ /status failed. See the log for details.");
    expect(errors).toHaveLength(1);
  });
});
