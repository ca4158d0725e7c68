import { expect, test } from "vitest";
import { startLabGateway } from "../conformance/channels/lab-gateway.ts";
import { startDiscord } from "../fakes/discord/index.ts";

const PATIENCE = { timeout: 50_000, interval: 50 };

/** The value of a button by its label, however deep it stands. */
function buttonIn(components: unknown, label: RegExp): string | undefined {
  const buttons = JSON.stringify(components ?? []).match(/\{[^{}]*"custom_id"[^{}]*\}/g) ?? [];
  return buttons.map((text) => JSON.parse(text) as { label?: string; custom_id: string }).find((button) => label.test(button.label ?? ""))?.custom_id;
}

test("execApprovals alone, without approvals.exec, has approvers asked in private, and their button decides", async () => {
  await using discord = await startDiscord();
  const { world, me } = discord;
  const boss = world.person({ username: "boss", global_name: "Boss" });
  const [own, theirs] = [world.direct(me), world.direct(boss)];
  await using gateway = await startLabGateway({
    sections: {
      tools: { exec: { host: "gateway", security: "full", ask: "always" } },
      channels: {
        discord: {
          enabled: true,
          token: discord.token,
          dmPolicy: "allowlist",
          allowFrom: [me.id, boss.id],
          ackReaction: "",
          execApprovals: { enabled: true, approvers: [boss.id] },
        },
      },
    },
    env: { OPENCLAW_TEST_DISCORD_API_ROOT: discord.apiRoot },
  });
  gateway.model.answers(({ body }) => (body.includes('"role":"tool"') ? "Waiting." : { text: "", calls: [{ name: "exec", args: { command: "echo w-ran" } }] }));
  await expect.poll(() => discord.gateway.live, PATIENCE).toBeGreaterThan(0);
  discord.say("please run it", { from: me, channel: own });
  const question = () => discord.messages(theirs).find(({ author, components }) => author.id === world.bot.id && buttonIn(components, /deny/i) !== undefined);
  await expect.poll(() => question()?.content, PATIENCE).toContain("echo w-ran");
  discord.press(question()!, buttonIn(question()!.components, /deny/i)!, boss);
  await expect.poll(() => discord.messages(theirs).map(({ content }) => content), PATIENCE).toContainEqual(expect.stringMatching(/^Decided: deny for /));
  expect(discord.messages(own).filter(({ content }) => content.includes("/approve"))).toEqual([]);
});
