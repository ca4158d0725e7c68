import { expect, test } from "vitest";
import { googlechatLabs } from "../conformance/channels/googlechat.ts";
import type { ChannelLab, MakeLab } from "../conformance/channels/lab.ts";
import { slackLabs } from "../conformance/channels/slack.ts";
import { exchange, until } from "../conformance/channels/suite/heard.ts";

const LONG = "x".repeat(10 * 1024 * 1024);

async function isStillAnswered(lab: ChannelLab): Promise<void> {
  await exchange(lab, "w-after", { where: "group", mention: true });
  expect(await lab.isUp()).toBe(true);
}

/** Takes a text of 10 MB that no real platform sends, and goes on. */
async function opened(make: MakeLab, use: (lab: ChannelLab) => Promise<void>): Promise<void> {
  await using lab = await make({});
  await use(lab);
}

test("Slack: a text of 10 MB over a socket is stored and answered, and what comes after it is answered too", async () => {
  await opened(slackLabs(), async (lab) => {
    await lab.say(LONG);
    await until(
      () => lab.received().length > 0,
      () => `the text was not answered\n${lab.gateway.output().slice(-2000)}`,
    );
    await isStillAnswered(lab);
  });
});

test("Google Chat: a body of 10 MB is refused with 413 and logged, and what comes after it is answered", async () => {
  await opened(googlechatLabs(), async (lab) => {
    const { status } = await fetch(`${lab.gateway.url.replace(/^ws/, "http")}/googlechat`, {
      method: "POST",
      body: JSON.stringify({ type: "MESSAGE", text: LONG }),
    });
    expect(status).toBe(413);
    await until(
      () => lab.gateway.output().includes("a request to /googlechat was refused: its body has more than 1048576 bytes"),
      () => `nothing was logged\n${lab.gateway.output().slice(-2000)}`,
    );
    await isStillAnswered(lab);
  });
});
