import { expect, test } from "vitest";
import { startLabGateway } from "../conformance/channels/lab-gateway.ts";
import { startMessages } from "../fakes/imessage/index.ts";

const OWNER = "+491701234567";

test("an answer whose receipt was lost is found in its chat and does not come twice; one that did not arrive comes, marked", async () => {
  await using mac = await startMessages();
  const direct = mac.direct(OWNER);
  await using gateway = await startLabGateway({
    sections: { channels: { imessage: { cliPath: mac.cliPath, dbPath: mac.dbPath, dmPolicy: "allowlist", allowFrom: [OWNER] } } },
  });
  await expect.poll(async () => (await gateway.account("imessage"))?.connected).toBe(true);
  const texts = () => mac.rows.filter(({ isFromMe }) => isFromMe).map(({ text }) => text);
  const say = async (word: string): Promise<void> => {
    mac.say(OWNER, direct, `and ${word}?`);
    await expect.poll(() => texts().at(-1)).toContain(`Heard ${word}.`);
  };
  await say("w-before");
  mac.faults.push({ on: "send", outcome: "exit", applied: true });
  await say("w-lost");
  await say("w-between");
  mac.faults.push({ on: "send", outcome: "exit" });
  await say("w-gone");
  await say("w-after");
  expect(texts()).toEqual(["Heard w-before.", "Heard w-lost.", "Heard w-between.", "(repeat?) Heard w-gone.", "Heard w-after."]);
  expect(gateway.model.requests).toHaveLength(5);
});
