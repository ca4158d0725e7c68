import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { visit } from "../harness/device-client.ts";
import { openScene, type Scene } from "./harness/scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ model: "mock", config: { tools: { exec: { host: "gateway", ask: "on-miss", security: "allowlist" } } } });
});
afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
afterAll(() => scene[Symbol.asyncDispose]());

const region = (page: Page, name: string): Locator => page.getByRole("region", { name });

const rulesFile = (): string => join(scene.place.stateDir, "exec-approvals.json");
const writeRules = (...patterns: readonly string[]): void =>
  writeFileSync(rulesFile(), JSON.stringify({ version: 1, agents: { main: { allowlist: patterns.map((pattern) => ({ pattern })) } } }), { mode: 0o600 });

/** Has the agent of a conversation ask about a command. */
async function askIn(key: string, command: string): Promise<void> {
  const plans = [{ tool: "exec", args: JSON.stringify({ command }) }, { say: "I asked." }];
  await fetch(`${scene.modelUrl}/next`, { method: "POST", body: JSON.stringify(plans) });
  await using client = await visit(scene.url, { token: scene.token, scopes: ["operator.admin"] });
  expect((await client.ask("chat.send", { sessionKey: key, message: "run it please", idempotencyKey: key })).ok).toBe(true);
  await client.next(({ event, payload }) => event === "chat" && payload?.["state"] === "final" && payload["runId"] === key);
}

test("commands of every conversation wait here, are decided here, and Enter allows none of them", async () => {
  const page = await scene.open("approvals");
  await page.getByText("Nothing is waiting").waitFor();
  await askIn("agent:main:web:one", "touch one-ran");
  await askIn("agent:main:web:two", "touch two-ran");
  const cards = page.getByRole("group", { name: "Allow this command?" });
  await expect.poll(() => cards.count()).toBe(2);
  const first = cards.filter({ hasText: "touch one-ran" });
  await first.getByRole("link", { name: "run it please" }).waitFor();
  await first.getByRole("button", { name: "Allow once" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("Press Space or click to allow.").waitFor();
  expect(await cards.count()).toBe(2);
  await first.getByRole("button", { name: "Allow once" }).focus();
  await page.keyboard.press("Space");
  await first.waitFor({ state: "detached" });
  await expect.poll(() => existsSync(join(scene.workspace, "one-ran"))).toBe(true);
  await cards.filter({ hasText: "touch two-ran" }).getByRole("button", { name: "Deny" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("Nothing is waiting").waitFor();
  expect(existsSync(join(scene.workspace, "two-ran"))).toBe(false);

  await page.getByRole("link", { name: "History" }).click();
  const table = page.getByRole("table", { name: "Decisions" });
  await table.getByRole("row").filter({ hasText: "touch one-ran" }).filter({ hasText: "Allowed once" }).filter({ hasText: "run it please" }).waitFor();
  await table.getByRole("row").filter({ hasText: "touch two-ran" }).filter({ hasText: "Denied" }).waitFor();
});

test("what was pressed of one request is not carried over to the one that takes its place", async () => {
  const page = await scene.open("approvals");
  await askIn("agent:main:web:former", "touch former-ran");
  await askIn("agent:main:web:latter", "touch latter-ran");
  const cards = page.getByRole("group", { name: "Allow this command?" });
  await expect.poll(() => cards.count()).toBe(2);
  await cards.filter({ hasText: "former-ran" }).getByRole("button", { name: "Always allow…" }).click();
  await cards.filter({ hasText: "former-ran" }).getByRole("button", { name: "Back" }).waitFor();
  const other = await scene.open("approvals");
  await other.getByRole("group", { name: "Allow this command?" }).filter({ hasText: "former-ran" }).getByRole("button", { name: "Deny" }).click();
  await expect.poll(() => cards.count()).toBe(1);
  expect(await page.getByRole("button", { name: "Back" }).count()).toBe(0);
  await cards.filter({ hasText: "latter-ran" }).getByRole("button", { name: "Deny" }).click();
  await page.getByText("Nothing is waiting").waitFor();
});

test("undoing one removal brings back that entry alone", async () => {
  writeRules("/usr/bin/uname", "/usr/bin/nproc");
  const page = await scene.open("approvals/rules");
  const list = region(page, "Allowlist");
  for (const name of ["uname", "nproc"]) {
    await list.getByRole("button", { name: `Remove /usr/bin/${name}` }).click();
    await page
      .locator(".toast")
      .filter({ hasText: `${name} was removed` })
      .waitFor();
  }
  await page.locator(".toast").filter({ hasText: "uname was removed" }).getByRole("button", { name: "Undo" }).click();
  await list.getByText("/usr/bin/uname").waitFor();
  expect(readFileSync(rulesFile(), "utf8")).not.toContain("nproc");
});

test("what was allowed for good is listed, revoked and brought back, and entries of the file too", async () => {
  writeRules("/usr/bin/uname");
  await askIn("agent:main:web:always", "ls -la");
  const page = await scene.open("approvals");
  await page.getByRole("button", { name: "Always allow…" }).click();
  await page.getByRole("button", { name: "Always allow", exact: true }).click();
  await page.getByText("Nothing is waiting").waitFor();
  await page.getByRole("link", { name: "Rules" }).click();
  const remembered = region(page, "Always allowed");
  await remembered.getByText("ls -la").first().waitFor();
  await remembered.getByRole("button", { name: "Revoke ls -la" }).click();
  await remembered.getByText("Nothing yet.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await remembered.getByText("ls -la").first().waitFor();

  const list = region(page, "Allowlist");
  await list.getByRole("button", { name: "Remove /usr/bin/uname" }).click();
  await list.getByText("The approvals file has no entries.").waitFor();
  expect(readFileSync(rulesFile(), "utf8")).not.toContain("uname");
  await page.locator(".toast").filter({ hasText: "removed from the allowlist" }).getByRole("button", { name: "Undo" }).click();
  await list.getByText("/usr/bin/uname").waitFor();
});

test("the rules are sentences, and a command is tried without running it", async () => {
  writeRules("/usr/bin/uname");
  const page = await scene.open("approvals/rules");
  await region(page, "Policy").getByText("Commands on the allowlist run on the gateway’s machine. All others need approval.").waitFor();
  const tester = region(page, "Test a command");
  const command = tester.getByRole("textbox", { name: "Command" });
  await command.fill("touch tried && rm -rf build");
  await command.press("Enter");
  await tester.getByText("Asks for approval").waitFor();
  await tester.getByText("not allowed in advance").first().waitFor();
  await command.fill("/usr/bin/uname");
  expect(await tester.getByText("Asks for approval").count()).toBe(0);
  await tester.getByRole("button", { name: "Test" }).click();
  await tester.getByText("Runs without asking").waitFor();
  expect(existsSync(join(scene.workspace, "tried"))).toBe(false);
});

test("a file of rules that changed meanwhile is not overwritten: the page says so and shows it as it is", async () => {
  writeRules("/usr/bin/uname");
  const page = await scene.open("approvals/rules");
  const list = region(page, "Allowlist");
  await list.getByText("/usr/bin/uname").waitFor();
  writeRules("/usr/bin/uname", "/usr/bin/nproc");
  await list.getByRole("button", { name: "Remove /usr/bin/uname" }).click();
  await page.getByText(/changed since last load/).waitFor();
  await list.getByText("/usr/bin/nproc").waitFor();
  await list.getByText("/usr/bin/uname").waitFor();
});

test("where nothing was ever asked the page says so", async () => {
  const fresh = await openScene();
  try {
    const page = await fresh.open("approvals/history");
    await page.getByText("No decisions yet").waitFor();
    await page.getByRole("link", { name: "Rules" }).click();
    await region(page, "Always allowed").getByText("Nothing yet.").waitFor();
  } finally {
    await fresh[Symbol.asyncDispose]();
  }
});
