import { describe, expect, test } from "vitest";
import { AppError } from "../../../base/errors.ts";
import { setup, type Setup } from "../commands.fixture.ts";
import type { AllowlistPort, CommandPorts } from "../ports.ts";

describe("/send and /activation", () => {
  test.each([
    ["on", "allow"],
    ["allow", "allow"],
    ["off", "deny"],
    ["deny", "deny"],
    ["inherit", undefined],
    ["default", undefined],
    ["reset", undefined],
  ])("send %s", async (word, value) => {
    const { say, entry } = setup({ entry: { sendPolicy: "deny" } });
    await say(`/send ${word}`);
    expect(entry()?.["sendPolicy"]).toBe(value);
  });

  test("send is for owners, and says how it is written", async () => {
    const { say, log } = setup();
    expect(await say("/send off", { owner: false })).toContain("Only an owner");
    expect(await say("/send maybe")).toBe("Usage: /send on|off|inherit");
    expect(log).toEqual([]);
  });

  test("activation is for groups", async () => {
    const { say, entry } = setup();
    expect(await say("/activation always")).toBe("/activation works in groups only.");
    expect(await say("/activation", { isGroup: true })).toBe("Usage: /activation mention|always");
    await say("/activation always", { isGroup: true });
    expect(entry()).toMatchObject({ groupActivation: "always", groupActivationNeedsSystemIntro: true });
  });
});

describe("/config and /debug", () => {
  const config = { commands: { config: true, debug: true }, gateway: { auth: { token: "hunter2-secret" }, port: 1 } };

  test("show hides secrets", async () => {
    const { say } = setup({ config });
    for (const text of [await say("/config"), await say("/config show"), await say("/config get gateway")]) {
      expect(text).toContain("__OPENCLAW_REDACTED__");
      expect(text).not.toContain("hunter2");
    }
    expect(await say("/config show gateway.port")).toBe("gateway.port:\n```json\n1\n```");
    expect(await say("/config show a.b")).toBe("a.b is not set.");
  });

  test.each([
    ["a.b=true", true],
    ["a.b=null", null],
    ["a.b=12", 12],
    ['a.b="12"', "12"],
    ["a.b=plain text", "plain text"],
    ['a.b=["x"]', ["x"]],
    ['a.b={"c":[1]}', { c: [1] }],
    ['a.b="[x] y=z"', "[x] y=z"],
  ])("set %s", async (assignment, value) => {
    const { say, log } = setup({ config });
    expect(await say(`/config set ${assignment}`)).toBe(`Set a.b to ${JSON.stringify(value)}.`);
    expect(log).toEqual([`edit ${JSON.stringify({ kind: "set", path: ["a", "b"], value })}`]);
  });

  test("a secret that is set is not repeated", async () => {
    expect(await setup({ config }).say("/config set gateway.auth.token=hunter3-secret")).toBe('Set gateway.auth.token to "__OPENCLAW_REDACTED__".');
  });

  test("unset, and what cannot be", async () => {
    const { say, log } = setup({ config });
    expect(await say("/config unset gateway.port")).toBe("Removed gateway.port.");
    expect(await say("/config set __proto__.x=1")).toContain("can never be a setting");
    expect(await say("/config set x")).toContain("Usage: /config");
    expect(await say("/config explode")).toContain("Usage: /config");
    expect(log).toHaveLength(1);
  });

  test("an invalid result is reported, and nothing is written", async () => {
    const { say } = setup({
      config,
      ports: {
        config: {
          current: () => config,
          shown: () => Promise.resolve({}),
          edit: () => Promise.reject(new AppError("CONFIG_INVALID", "gateway.port: expected a number")),
        },
      },
    });
    expect(await say("/config set gateway.port=x")).toBe("⚠️ gateway.port: expected a number");
  });

  test.each(["/config set a=1", "/debug set a=1"])("%s needs its switch, an owner, and of clients the right scope", async (text) => {
    const { say, log } = setup({ config });
    expect(await setup().say(text)).toContain("is switched off");
    expect(await say(text, { owner: false })).toContain("Only an owner");
    expect(await say(text, { scopes: ["operator.write"] })).toContain("operator.admin");
    expect(log).toEqual([]);
  });

  test("a channel or account can forbid writing", async () => {
    const forbidding = { ...config, channels: { telegram: { configWrites: false, accounts: { free: { configWrites: true } } } } };
    const { say, log } = setup({ config: forbidding });
    expect(await say("/config set a=1")).toContain("channels.telegram.configWrites is false");
    expect(log).toEqual([]);
    expect(await say("/config set a=1", { accountId: "free" })).toBe("Set a to 1.");
  });

  test("debug lays overrides over it until the restart", async () => {
    const { say, log } = setup({ config });
    expect(await say("/debug")).toBe("There are no overrides.");
    expect(await say("/debug set gateway.auth.token=hunter4")).not.toContain("hunter4");
    await say("/debug set a.b=[1]");
    expect(await say("/debug show")).not.toContain("hunter4");
    expect([await say("/debug unset a.b"), await say("/debug unset a.b")]).toEqual(["Removed the override of a.b.", "There is no override of a.b."]);
    expect([await say("/debug reset"), await say("/debug")]).toEqual(["All overrides removed.", "There are no overrides."]);
    expect(log).toEqual([]);
  });
});

describe("/allowlist", () => {
  function lists(config = { commands: { config: true } } as Setup["config"]) {
    const changes: unknown[] = [];
    const allowlist: AllowlistPort = {
      channels: () => ["telegram", "irc"],
      list: () => Promise.resolve({ dmPolicy: "pairing", groupPolicy: "allowlist", dm: ["42"], group: [], store: ["7"], groups: { "-1": ["9"] } }),
      change: (place, change) => {
        changes.push({ ...place, ...change });
        return Promise.resolve(change.entry === "known" ? { changed: [], known: change.where } : { changed: change.where, known: [] });
      },
    };
    return { ...setup({ ...(config ? { config } : {}), ports: { allowlist } }), changes };
  }

  test("shows policies and lists", async () => {
    expect(await lists().say("/allowlist")).toBe(
      "**Allowlist** of telegram (default)\nDM policy: pairing\nDM, configuration: 42\nDM, paired: 7\nGroup policy: allowlist\nGroups, configuration: (none)\n- -1: 9",
    );
    expect(await lists().say("/allowlist list dm channel=irc")).not.toContain("Group");
  });

  test.each([
    ["/allowlist add dm 99", { action: "add", scope: "dm", entry: "99", where: ["config", "store"], channel: "telegram", accountId: "default" }],
    ["/allowlist add 99 --config", { action: "add", scope: "dm", where: ["config"] }],
    ["/allowlist remove dm 99 store account=b channel=IRC", { action: "remove", where: ["store"], channel: "irc", accountId: "b" }],
    ["/allowlist add group -5 --account=b", { scope: "group", entry: "-5", where: ["config"], accountId: "b" }],
  ])("%s", async (text, change) => {
    const { say, changes } = lists();
    await say(text);
    expect(changes).toMatchObject([change]);
  });

  test("says when there was nothing to do, or it may not be done", async () => {
    expect(await lists().say("/allowlist add known")).toBe("known is already on the dm list of telegram.");
    expect(await lists().say("/allowlist remove known")).toBe("known is not on the dm list of telegram.");
    expect(await lists().say("/allowlist add a b")).toContain("Usage:");
    expect(await lists().say("/allowlist", { channel: "webchat" })).toContain('Unknown channel "webchat"');
    const refused = [
      lists({}).say("/allowlist add 9"),
      lists().say("/allowlist add 9", { scopes: ["operator.write"] }),
      lists({ commands: { config: true }, channels: { telegram: { configWrites: false } } }).say("/allowlist add 9"),
    ];
    expect((await Promise.all(refused)).map((text) => /switched off|operator\.admin|configWrites/.exec(text)?.[0])).toEqual([
      "switched off",
      "operator.admin",
      "configWrites",
    ]);
  });
});

describe("/approve", () => {
  function approvals() {
    const decided: unknown[] = [];
    const resolve = (...args: unknown[]) => (args[0] === "late" ? Promise.reject(new AppError("NOT_FOUND", "late")) : Promise.resolve(void decided.push(args)));
    return { ...setup({ ports: { approvals: { resolve } } }), decided };
  }

  test.each([
    ["id1 allow-once", "allow-once"],
    ["id1 allow", "allow-once"],
    ["once id1", "allow-once"],
    ["id1 always", "allow-always"],
    ["id1 deny", "deny"],
    ["reject id1", "deny"],
    ["id1 BLOCK", "deny"],
  ])("%s", async (args, decision) => {
    const { say, decided } = approvals();
    await say(`/approve ${args}`);
    expect(decided).toEqual([["id1", decision, "telegram:42"]]);
  });

  test("needs an id, a decision, and of clients the right scope", async () => {
    const { say, decided } = approvals();
    expect(await say("/approve id1")).toContain("Usage:");
    expect(await say("/approve deny")).toContain("Usage:");
    expect(await say("/approve late deny")).toContain("No pending approval with the id late");
    expect(await say("/approve id1 deny", { scopes: ["operator.write"] })).toContain("operator.approvals");
    expect(decided).toEqual([]);
    await say("/approve id1 deny", { scopes: ["operator.approvals"] });
    await say("/approve id1 deny", { scopes: ["operator.admin"] });
    expect(decided).toHaveLength(2);
  });
});

describe("/bash", () => {
  function shell(config = { commands: { bash: true, bashForegroundMs: 5 } } as Setup["config"], permitted = true) {
    const ran: unknown[] = [];
    const bash: CommandPorts["bash"] = {
      run: (_call, command, ms) => Promise.resolve(void ran.push(["run", command, ms])).then(() => "ok"),
      poll: (_call, id) => Promise.resolve(void ran.push(["poll", id])).then(() => "ok"),
      stop: (_call, id) => Promise.resolve(void ran.push(["stop", id])).then(() => "ok"),
    };
    const elevation: CommandPorts["elevation"] = () =>
      permitted ? { permitted, named: true } : { permitted, reasons: ["tools.elevated.allowFrom.telegram does not name this sender"] };
    return { ...setup({ ...(config ? { config } : {}), ports: { bash, elevation } }), ran };
  }

  test.each([
    ["/bash ls /t", ["run", "ls /t", 5]],
    ["! ls -la", ["run", "ls -la", 5]],
    ["!ls\nrm x", ["run", "ls", 5]],
    ["!poll", ["poll", undefined]],
    ["!stop s1", ["stop", "s1"]],
    ["/bash poll s1", ["poll", "s1"]],
  ])("%j", async (text, call) => {
    const { say, ran } = shell();
    await say(text);
    expect(ran).toEqual([call]);
  });

  test("is off, names the closed gates, and needs the right scope", async () => {
    const off = shell({});
    expect(await off.say("/bash ls")).toContain("commands.bash");
    const closed = shell(undefined, false);
    expect(await closed.say("!ls")).toContain("tools.elevated.allowFrom.telegram");
    const client = shell();
    expect(await client.say("/bash ls", { scopes: ["operator.write"] })).toContain("operator.admin");
    expect([off.ran, closed.ran, client.ran]).toEqual([[], [], []]);
  });
});

describe("/restart, and what is not there yet", () => {
  test("restart says how", async () => {
    const reasons: string[] = [];
    const restart = (reason: string) => (reasons.push(reason), "in this process");
    expect(await setup({ ports: { restart } }).say("/restart")).toBe("Restarting in this process.");
    expect(reasons).toEqual(["/restart by telegram:42"]);
    expect(await setup({ config: { commands: { restart: false } }, ports: { restart } }).say("/restart")).toContain("switched off");
    expect(await setup({ ports: { restart } }).say("/restart", { scopes: ["operator.write"] })).toContain("operator.admin");
    expect(reasons).toHaveLength(1);
  });

  test.each(["/subagents", "/kill 1", "/steer 1 hi", "/tell 1 hi", "/tts on", "/approve x deny", "/allowlist", "/restart"])("%s says so", async (text) => {
    expect(await setup().say(text)).toMatch(/is not available: .+\.$/);
  });
});
