import { describe, expect, test } from "vitest";
import { route } from "../../src/cli/commands/groups.ts";
import type { Explanation, Route } from "../../src/routing/index.ts";
import { openCommandLine } from "../harness/command-line.ts";

function makePlace(config = "{}", color = false) {
  const { run, path } = openCommandLine<Route & Explanation>("route", route, { config, color });
  return async (...args: string[]) => ({ ...(await run(...args)), path });
}

const TWO = `{
  agents: { list: [{ id: "home" }, { id: "work" }] },
  session: { dmScope: "per-channel-peer" },
  bindings: [
    { agentId: "work", match: { channel: "discord", guildId: "9", roles: ["77"] } },
    { agentId: "work", match: { channel: "telegram", peer: { kind: "group", id: "-100" } } },
    { agentId: "work", match: { channel: "slack", teamId: "T1" } },
    { agentId: "work", match: { channel: "discord", peer: { kind: "channel", id: "41" } } },
  ],
}`;

describe("route explain", () => {
  test.each<readonly [readonly string[], string, string]>([
    [["--channel", "telegram", "--peer", "user:123"], "agent:home:telegram:direct:123", "default"],
    [["--channel", "telegram", "--peer", "direct:123"], "agent:home:telegram:direct:123", "default"],
    [["--channel", "telegram", "--peer", "DM:123"], "agent:home:telegram:direct:123", "default"],
    [["--channel", "telegram", "--peer", "group:-100"], "agent:work:telegram:group:-100", "binding.peer"],
    [["--channel", "telegram", "--group=-100", "--thread", "7"], "agent:work:telegram:group:-100:topic:7", "binding.peer.parent"],
    [["--channel", "telegram", "--group=-100", "--peer", "user:123"], "agent:work:telegram:group:-100", "binding.peer"],
    [["--channel", "telegram", "--group=-100", "--account", "second"], "agent:home:telegram:group:-100", "default"],
    [["--channel", "discord", "--peer", "channel:1", "--guild", "9", "--role", "5", "--role", "77"], "agent:work:discord:channel:1", "binding.guild+roles"],
    [["--channel", "discord", "--peer", "channel:1", "--guild", "9"], "agent:home:discord:channel:1", "default"],
    [["--channel", "discord", "--peer", "channel:42", "--parent", "channel:41"], "agent:work:discord:channel:42", "binding.peer.parent"],
    [["--channel", "slack", "--peer", "channel:C1", "--team", "T1", "--thread", "1.5"], "agent:work:slack:channel:c1:thread:1.5", "binding.team"],
    [["--channel", "matrix", "--peer", "user:@a:example.org"], "agent:home:matrix:direct:@a:example.org", "default"],
  ])("%j: %s by %s", async (args, sessionKey, matchedBy) => {
    const { code, err, json } = await makePlace(TWO)("explain", ...args, "--json");
    expect([code, err]).toEqual([0, ""]);
    expect(json()).toMatchObject({ sessionKey, matchedBy });
  });

  test("every binding is accounted for in the data", async () => {
    const { json } = await makePlace(TWO)("explain", "--channel", "telegram", "--group=-100", "--json");
    expect(json().bindings.map((one) => (one.state === "refused" ? one.field : one.state))).toEqual(["channel", "chosen", "channel", "channel"]);
  });

  test("on a terminal the decision has a colour", async () => {
    const { out } = await makePlace(TWO, true)("explain", "--channel", "telegram", "--group=-100");
    expect(out).toContain("\u001b[32mchosen\u001b[0m");
    expect(out).toContain("3 bindings are for other channels");
  });

  test("an id brings no control characters to the terminal", async () => {
    const { out } = await makePlace(TWO)("explain", "--channel", "telegram", "--peer", "group:\u001b[2Jx\u202ey");
    // eslint-disable-next-line no-control-regex -- this is what is looked for
    expect(out).not.toMatch(/[\x00-\x09\x0b-\x1f\u202e]/);
    expect(out).toContain("here it is group:\\u001b[2Jx\\u202ey");
  });

  test.each<readonly [string, readonly string[], string]>([
    ["no channel", ["--peer", "user:1"], "--channel is missing"],
    ["no kind", ["--channel", "x", "--peer", "123"], "such as user:123"],
    ["an unknown kind", ["--channel", "x", "--peer", "grup:1"], "did you mean group:1?"],
    ["a name of the prototype as kind", ["--channel", "x", "--peer", "constructor:1"], "expected a kind and an id"],
    ["no id", ["--channel", "x", "--peer", "user:"], "expected a kind and an id"],
    ["two chats", ["--channel", "x", "--peer", "channel:1", "--group", "2"], "name two chats"],
    ["a thread of nothing", ["--channel", "x", "--thread", "2"], "add --peer or --group"],
    ["an empty group", ["--channel", "x", "--group", ""], "expected the id of a group"],
    ["an option that is none", ["--channel", "x", "--gild", "2"], "did you mean --guild?"],
  ])("refuses %s and says what to do", async (_name, args, message) => {
    const { code, out, err } = await makePlace()("explain", ...args);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(message);
  });

  test("a binding to an agent that is not there is an error at its line", async () => {
    const { code, err, path } = await makePlace(
      `{\n  agents: { list: [{ id: "home" }] },\n  bindings: [\n    { agentId: "hom", match: { channel: "x" } },\n  ],\n}`,
    )("explain", "--channel", "x");
    expect(code).toBe(1);
    expect(err).toContain(`${path}:4:7: bindings.0.agentId: no agent has the id "hom"`);
    expect(err).toContain('did you mean "home"?');
  });
});
