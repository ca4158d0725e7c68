import { describe, expect, test } from "vitest";
import { setup, textOf } from "./commands.fixture.ts";

describe("menus of platforms", () => {
  test("offer what is switched on, by channel", async () => {
    const { commands } = setup({ ports: { skills: { list: () => Promise.resolve([{ name: "git", description: "d" }]) } } });
    const names = (await commands.native("main", { channel: "telegram", accountId: "default" })).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["status", "think", "git"]));
    expect(names).not.toEqual(expect.arrayContaining(["bash"]));
    expect(await commands.native("main", { channel: "slack", accountId: "default" })).toEqual([]);
  });

  test("can be switched for one channel", async () => {
    const { commands } = setup({ config: { channels: { telegram: { commands: { native: false } }, slack: { commands: { native: true } } } } });
    expect(await commands.native("main", { channel: "telegram", accountId: "default" })).toEqual([]);
    expect((await commands.native("main", { channel: "slack", accountId: "default" })).length).toBeGreaterThan(20);
  });

  test("can be switched for one account, whatever the channel and the other accounts say", async () => {
    const accounts = { shop: { commands: { native: false } }, home: { commands: { nativeSkills: false } }, work: {} };
    const { commands } = setup({
      config: { channels: { telegram: { accounts }, slack: { commands: { native: false }, accounts: { Team: { commands: { native: true } } } } } },
      ports: { skills: { list: () => Promise.resolve([{ name: "git", description: "d" }]) } },
    });
    const names = async (channel: string, accountId: string) => (await commands.native("main", { channel, accountId })).map(({ name }) => name);
    expect(await names("telegram", "shop")).toEqual([]);
    expect(await names("telegram", "home")).toContain("status");
    expect(await names("telegram", "home")).not.toContain("git");
    expect(await names("telegram", "work")).toEqual(expect.arrayContaining(["status", "git"]));
    expect(await names("slack", "team")).toContain("status");
    expect(await names("slack", "default")).toEqual([]);
  });

  test("give choices as buttons when none was made", async () => {
    const verdict = await setup().run("/think", { source: "native" });
    expect(verdict).toMatchObject({
      reply: [
        { channelData: { telegram: { buttons: [[{ text: "off", callback_data: "/think off" }, { text: "minimal" }], expect.anything(), expect.anything()] } } },
      ],
    });
    expect(textOf(verdict)).toContain("Thinking: low");
    for (const text of ["/think high", "/activation"])
      expect(await setup().run(text, { source: "native" })).toMatchObject({ reply: [expect.not.objectContaining({ channelData: expect.anything() })] });
  });

  test("clients get everything with groups, what it takes and where it comes from", async () => {
    expect(await setup().commands.list("main")).toEqual(
      expect.arrayContaining([
        {
          name: "think",
          aliases: ["thinking", "t"],
          description: "Set the thinking level",
          group: "options",
          acceptsArgs: true,
          usage: "[level]",
          choices: ["off", "minimal", "low", "medium", "high", "xhigh"],
          source: "core",
        },
      ]),
    );
  });
});
