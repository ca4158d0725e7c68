import { describe, expect, test } from "vitest";
import { setup } from "../commands.fixture.ts";

describe("levels", () => {
  test.each([
    ["/think", "Thinking: low. Choose off, minimal, low, medium, high."],
    ["/think bogus", 'Invalid thinking level "bogus". Choose off, minimal, low, medium, high.'],
    ["/think xhigh", "anthropic/claude-opus-4-6 does not support the thinking level xhigh. Choose off, minimal, low, medium, high."],
    ["/verbose", "Verbose: off. Choose on, full, off."],
    ["/verbose loud", 'Invalid verbose level "loud". Choose on, full, off.'],
    ["/reasoning", "Reasoning: off. Choose on, off, stream."],
    ["/elevated", "Elevated: on. Choose on, off, ask, full."],
    [
      "/exec",
      "Exec: host=gateway security=allowlist ask=on-miss node=(unset).\nConfiguration: host=gateway security=allowlist ask=on-miss.\nThis session: nothing set.\nAnyone who may write here can tighten it; you can also loosen it, within the configuration.\nOptions: host=sandbox|gateway|node security=deny|allowlist|full ask=off|on-miss|always node=<id>.",
    ],
    ["/exec host=moon", "Not understood: host=moon. Options: host=sandbox|gateway|node security=deny|allowlist|full ask=off|on-miss|always node=<id>."],
    [
      "/queue",
      "Queue: collect, debounce 1000 ms, cap 20, drop summarize. Options: modes steer, followup, collect, steer-backlog, interrupt; debounce:<ms|s|m>, cap:<n>, drop:old|new|summarize; default.",
    ],
  ])("%s changes nothing", async (text, answer) => {
    const { say, log } = setup();
    expect(await say(text)).toBe(answer);
    expect(log).toEqual([]);
  });

  test.each([
    ["/think ultrathink", { thinkingLevel: "high" }],
    ["/t off", { thinkingLevel: "off" }],
    ["/v everything", { verboseLevel: "full" }],
    ["/verbose off", { verboseLevel: "off" }],
    ["/reason live", { reasoningLevel: "stream" }],
    ["/elev auto", { elevatedLevel: "full" }],
    ["/exec host=gateway security=allowlist ask=always node=n1", { execHost: "gateway", execSecurity: "allowlist", execAsk: "always", execNode: "n1" }],
    ["/queue steer+backlog debounce:2s cap:3 drop:new", { queueMode: "steer-backlog", queueDebounceMs: 2000, queueCap: 3, queueDrop: "new" }],
  ])("%s is stored", async (text, fields) => {
    const { say, entry } = setup();
    await say(text);
    expect(entry()).toMatchObject(fields);
  });

  test("hidden reasoning and the default queue leave nothing behind", async () => {
    const { say, entry } = setup({ entry: { reasoningLevel: "on", queueMode: "steer", queueCap: 3 } });
    await say("/reasoning off");
    expect(await say("/queue default")).toContain("follows the configuration again");
    expect(Object.keys(entry()!).sort()).toEqual(["sessionId", "updatedAt"]);
  });

  test("models that only know whether to think do so at any level", async () => {
    const { say, entry } = setup({ entry: { providerOverride: "zai", modelOverride: "glm-5" } });
    expect(await say("/think high")).toBe("Thinking: low.");
    expect(entry()).toMatchObject({ thinkingLevel: "low" });
  });

  test("the model is notified about changes it would not notice", async () => {
    const { say, log } = setup();
    await say("/reasoning on");
    await say("/elevated full");
    await say("/elevated full");
    expect(log.filter((line) => line.startsWith("event"))).toEqual(["event Reasoning is now shown.", "event Elevated is now full."]);
  });

  test("closed gates of elevated are named, and nothing is stored", async () => {
    const { say, log } = setup({ ports: { elevation: () => ({ permitted: false, reasons: ["tools.elevated.enabled is false"] }) } });
    expect(await say("/elevated on")).toBe("Elevated is not available here:\n- tools.elevated.enabled is false");
    expect(log).toEqual([]);
  });
});

test("/exec without a value tells what is in force, what narrows it, and who may change it", async () => {
  const choice = { sandboxed: () => false, stillMay: () => () => true };
  const approvals = async () => ({ security: "deny", ask: "always" }) as const;
  const config = { tools: { exec: { host: "gateway", security: "full", ask: "off" } } } as const;
  const narrowed = setup({ config, entry: { execSecurity: "allowlist" }, ports: { choice: { ...choice, approvals } } });
  expect((await narrowed.say("/exec", { owner: false })).split("\n").slice(0, 5)).toEqual([
    "Exec: host=gateway security=deny ask=always node=(unset).",
    "Configuration: host=gateway security=full ask=off.",
    "This session: security=allowlist.",
    "The approvals file restricts it to security=deny ask=always.",
    "Anyone who may write here can tighten it; loosening it needs an owner.",
  ]);
  // A session's choice that nobody may make any more is shown as what it is.
  const stale = setup({ entry: { execSecurity: "full" }, ports: { choice } });
  expect(await stale.say("/exec", { owner: false })).toContain("This session: security=full (not in force for you: security=full).");
  const boxed = setup({ ports: { choice: { ...choice, sandboxed: () => true, approvals } } });
  expect(await boxed.say("/exec")).toMatch(/^Exec: host=sandbox security=\S+ ask=\S+ node=\(unset\)\.\nConfiguration: host=sandbox/);
});
