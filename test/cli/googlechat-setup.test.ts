import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startLabGateway } from "../conformance/channels/lab-gateway.ts";
import { startGoogleChat } from "../fakes/googlechat/index.ts";

const PATIENCE = { timeout: 20_000, interval: 50 };

test("channels add with a key and an audience connects the running gateway; what is wrong is refused before anything is written", async () => {
  await using chat = await startGoogleChat();
  await using gateway = await startLabGateway({ env: { OPENCLAW_TEST_GOOGLECHAT_API_ROOT: chat.url } });
  const path = join(gateway.place.home, "key.json");
  writeFileSync(path, chat.google.serviceAccount, { mode: 0o600 });
  const add = (...more: string[]) => gateway.cli("channels", "add", "--channel", "googlechat", "--token-file", path, ...more);
  for (const [more, why] of [
    [[], "audienceType is missing"],
    [["--audience-type", "app-url", "--audience", "123"], "for app-url"],
    [["--audience-type", "project-number", "--audience", "my-project"], "not the project id"],
  ] as const) {
    const refused = await add(...more);
    expect([refused.code === 0, refused.output]).toEqual([false, expect.stringContaining(why)]);
  }
  expect(chat.server.asked).toEqual([]);
  const added = await add("--audience-type", "project-number", "--audience", "123456789012");
  expect(added.code, added.output).toBe(0);
  expect(added.output).not.toContain("PRIVATE KEY");
  await expect
    .poll(async () => (await gateway.cli("channels", "status", "--json")).output, PATIENCE)
    .toMatch(/"credentialSource":\s*"serviceAccountFile"[^]*"connected":\s*true|"connected":\s*true[^]*"credentialSource":\s*"serviceAccountFile"/);
  const anna = chat.person("Anna");
  chat.google.setAudience("project-number", "123456789012");
  chat.postTo(() => `${gateway.url.replace(/^ws/, "http")}/googlechat`);
  chat.say(anna, chat.direct(anna), "hello");
  await expect.poll(() => chat.messages(chat.direct(anna)).at(-1)?.text, PATIENCE).toMatch(/pairing approve googlechat/);
});
