/** The examples of docs/automation/webhooks.md, as a user would try them. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { startLabGateway } from "../conformance/channels/lab-gateway.ts";
import { readPage } from "../harness/docs-page.ts";
import { makePlace } from "../harness/gateway-process.ts";
import { askedFor } from "../harness/hook-client.ts";

const page = readPage("docs/automation/webhooks.md");

test("every configuration of the page is valid", () => {
  const place = makePlace();
  const configs = page.blocks.filter(({ language }) => language === "json5");
  expect(configs.length).toBeGreaterThan(2);
  for (const { text } of configs) {
    place.configure(text);
    const { code, stdout, stderr } = place.cli("config", "validate");
    expect([code, stdout + stderr]).toEqual([0, expect.not.stringMatching(/warning|not available/)]);
  }
});

test("the commands of the page start work", async () => {
  await using gateway = await startLabGateway({ sections: { hooks: { enabled: true, token: "a-long-random-text" } } });
  expect(page.examples.length).toBe(2);
  for (const { line } of page.examples) {
    const { status, stdout } = spawnSync("sh", ["-c", line.replace("http://127.0.0.1:18789", gateway.url).replace("curl", "curl -s")], { encoding: "utf8" });
    expect([status, JSON.parse(stdout)]).toMatchObject([0, { ok: true }]);
  }
  for (const text of ["The build is green", "Sum up the news", "Hook News:"])
    await expect.poll(() => askedFor(gateway, text).length, { timeout: 20_000, interval: 20 }).toBeGreaterThan(0);
});
