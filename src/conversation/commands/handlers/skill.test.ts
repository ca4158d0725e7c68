import { describe, expect, test } from "vitest";
import { setup } from "../commands.fixture.ts";
import { nameSkills } from "./skill.ts";

describe("skills", () => {
  const list = [
    { name: "git-hub", description: "d" },
    { name: "git hub", description: "d" },
    { name: "Status", description: "d" },
    { name: "a".repeat(40), description: "x".repeat(200) },
    { name: "clock", description: "d", tool: "time" },
  ];

  test("get names that every platform takes, none twice and none of ours", () => {
    const named = nameSkills(list);
    expect(named.map(({ command }) => command)).toEqual(["git_hub", "git_hub_2", "status_2", "a".repeat(32), "clock"]);
    expect(named[3]!.description).toHaveLength(100);
  });

  const ports = {
    skills: {
      list: () => Promise.resolve(list),
      callTool: (_call: unknown, tool: string, args: object) => Promise.resolve({ text: `${tool} ${JSON.stringify(args)}` }),
    },
  };

  test.each(["/git_hub open a pull\nrequest", "/skill git-hub open a pull\nrequest", "/SKILL git_hub: open a pull\nrequest"])(
    "%j becomes an instruction",
    async (text) => {
      const verdict = await setup({ ports }).run(text.replace("git_hub:", "git_hub"));
      expect(verdict).toMatchObject({ kind: "turn", text: 'Use the skill "git-hub" for this request.\n\nUser input:\nopen a pull\nrequest' });
    },
  );

  test("give the file with their instructions: the prompt lists only some", async () => {
    const hidden = { name: "quiet", description: "d", location: "/skills/quiet/SKILL.md" };
    const verdict = await setup({ ports: { skills: { list: () => Promise.resolve([hidden]) } } }).run("/quiet now");
    expect(verdict).toMatchObject({ text: expect.stringContaining('Use the skill "quiet" for this request. Its instructions are in /skills/quiet/SKILL.md') });
  });

  test("take settings along", async () => {
    expect(await setup({ ports }).run("/git_hub /think high now")).toMatchObject({ text: expect.stringMatching(/User input:\nnow$/), thinking: "high" });
  });

  test("may name a tool that answers", async () => {
    expect(await setup({ ports }).say("/clock in Vienna")).toBe('time {"command":"in Vienna","commandName":"clock","skillName":"clock"}');
    expect(await setup({ ports: { skills: { list: ports.skills.list } } }).say("/clock")).toContain("needs the tool time");
  });

  test("that are unknown are answered; of a sender who may not, they are text", async () => {
    expect(await setup({ ports }).run("/skill bogus x")).toMatchObject({ kind: "answered", reply: [{ text: expect.stringContaining("bogus") }] });
    expect(await setup({ ports }).run("/clock", { authorized: false })).toMatchObject({ kind: "turn", text: "/clock" });
  });

  test("that cannot be listed do not lose the message", async () => {
    const broken = setup({ ports: { skills: { list: () => Promise.reject(new Error("disk")) } } });
    expect(await broken.run("/git_hub x")).toMatchObject({ kind: "turn", text: "/git_hub x" });
    expect(broken.errors).toHaveLength(1);
  });
});
