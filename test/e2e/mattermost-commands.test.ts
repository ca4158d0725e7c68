/** A slash command of a Mattermost server, from its registration to its answer, over a real gateway. */
import { expect, test } from "vitest";
import { startLabGateway } from "../conformance/channels/lab-gateway.ts";
import { startMattermost } from "../fakes/mattermost/index.ts";

const PUBLIC = "https://claw.example.com";
const PATIENCE = { timeout: 20_000, interval: 50 };

test("a registered command is answered in its channel; one with a wrong token, or of a stranger, is not", async () => {
  await using chat = await startMattermost();
  const [owner, stranger] = [chat.person({ username: "olive" }), chat.person({ username: "mallory" })];
  const square = chat.channel({ name: "town-square", members: [owner, stranger] });
  const lonely = chat.direct(owner);
  const section = {
    enabled: true,
    baseUrl: chat.url,
    botToken: chat.token,
    groupPolicy: "allowlist",
    groupAllowFrom: [owner.id],
    dmPolicy: "allowlist",
    allowFrom: [owner.id],
    commands: { native: true },
    interactions: { callbackBaseUrl: PUBLIC },
  };
  await using gateway = await startLabGateway({ sections: { channels: { mattermost: section } } });
  await expect.poll(() => [...chat.commands.values()].map(({ trigger }) => trigger), PATIENCE).toContain("oc_whoami");
  const proxied = { [PUBLIC]: gateway.url.replace(/^ws/, "http") };
  expect((await chat.call(owner, square, "/oc_whoami", { proxied, token: "forged" })).status).toBe(401);
  expect((await chat.call(stranger, square, "/oc_whoami", { proxied })).status).toBe(200);
  expect((await chat.call(owner, square, "/oc_whoami", { proxied })).status).toBe(200);
  const answers = () => chat.posts(square).filter(({ user_id: by }) => by === chat.bot.id);
  await expect.poll(() => answers().map(({ message }) => message), PATIENCE).toEqual([expect.stringContaining(owner.id)]);
  expect(chat.posts(lonely)).toEqual([]);
});
