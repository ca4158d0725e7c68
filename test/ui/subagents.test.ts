import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startLabModel, type LabModel, type ModelRequest } from "../conformance/channels/lab-model.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const PATIENCE = { timeout: 30_000, interval: 50 };
const isTask = ({ user }: ModelRequest): boolean => user.includes("[Subagent Task]:");
const isReport = ({ user }: ModelRequest): boolean => user.includes("[System Message]");
const hasResult = ({ body }: ModelRequest): boolean => (JSON.parse(body) as { messages: readonly { role: string }[] }).messages.at(-1)?.role === "tool";

describeInBrowser("the page of sub-agents", () => {
  let scene: Scene;
  let model: LabModel;
  beforeAll(async () => {
    model = await startLabModel();
    const models = [{ id: "large", name: "Large", contextWindow: 200_000, maxTokens: 8192, cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } }];
    scene = await openScene({
      config: {
        agents: { defaults: { model: { primary: "acme/large" }, skipBootstrap: true, subagents: { maxSpawnDepth: 2 } } },
        models: { providers: { acme: { baseUrl: model.url, apiKey: "sk-lab-0123456789abcdef", api: "openai-completions", models } } },
      },
    });
  });
  afterEach(async () => {
    model.holds(undefined);
    await Promise.all(scene.browser.contexts().map((window) => window.close()));
  });
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
    await model?.[Symbol.asyncDispose]();
  });

  /** What is asked for with this word starts a child, which starts a grandchild that goes on until it is stopped. */
  function grows(word: string): void {
    const spawning = (who: string) => ({
      text: "",
      calls: [{ name: "sessions_spawn", args: { task: `${word} work of the ${who}`, label: `${word} ${who}` } }],
    });
    model.holds((request) => isTask(request) && request.user.includes(`${word} work of the grandchild`));
    model.answers((request) => {
      if (isReport(request)) return "It is in.";
      if (hasResult(request)) return "Started.";
      if (request.user.includes(`${word} work of the child`)) return spawning("grandchild");
      return !isTask(request) && request.user.includes(word) ? spawning("child") : undefined;
    });
  }
  async function say(session: string, text: string): Promise<void> {
    const page = await scene.open(`chat/${encodeURIComponent(session)}`);
    const box = page.getByRole("textbox", { name: "Message", exact: true });
    await box.fill(text);
    await box.press("Enter");
    await page.getByText("Started.").first().waitFor();
    await page.context().close();
  }
  const item = (page: Page | Locator, name: string): Locator => page.getByRole("listitem", { name, exact: true });
  const badge = (page: Page, name: string): Promise<string | null> => item(page, name).locator(".badge").first().textContent();

  test("children appear below who started them while the page is open, with state, model and cost", async () => {
    const page = await scene.open(`subagents/${encodeURIComponent("agent:main:web:oak")}`);
    await page.getByText("No sub-agents yet").waitFor();
    grows("oak");
    await say("agent:main:web:oak", "oak please");
    const child = item(page, "oak child");
    await item(child, "oak grandchild").waitFor();
    await expect.poll(() => badge(page, "oak grandchild"), PATIENCE).toBe("Running");
    await expect.poll(() => badge(page, "oak child"), PATIENCE).toBe("Waiting for 1 sub-agent");
    expect(await child.textContent()).toMatch(/acme\/large · [\d.]+K? tokens · \$0\.\d+ · \$0\.\d+ including sub-agents/);
    expect(await child.textContent()).toContain("oak work of the child");
    await page.getByText("1 running · 2 sub-agents").waitFor();
    await page.getByRole("button", { name: "Sub-agents of oak child" }).press("Enter");
    await item(page, "oak grandchild").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Sub-agents of oak child" }).press("Enter");
    await page.getByRole("link", { name: "Open oak grandchild" }).click();
    await page.getByText("oak work of the grandchild").first().waitFor();
  });

  test("the trace of a sub-agent names it and who started it", async () => {
    grows("fir");
    await say("agent:main:web:fir", "fir please");
    const page = await scene.open("trace");
    await page.getByRole("link", { name: /· sub-agent · fir grandchild/ }).click();
    await page
      .getByText(/^Sub-agent task "fir grandchild", started by session agent:main:subagent:/)
      .first()
      .waitFor();
    await page.getByRole("link", { name: /Sub-agent task "fir grandchild"/ }).click();
    await item(page, "fir grandchild").waitFor();
  });

  test("one is stopped with everything below it, after a question, and the page shows it without being loaded again", async () => {
    grows("elm");
    await say("agent:main:web:elm", "elm please");
    const page = await scene.open("subagents");
    await expect.poll(() => badge(page, "elm grandchild"), PATIENCE).toBe("Running");
    await page.getByRole("button", { name: "Stop elm child" }).press("Enter");
    await page.getByRole("dialog").getByText("It stops now and reports no result. Everything it started (1 sub-agent) stops now").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    expect(await badge(page, "elm grandchild")).toBe("Running");
    await page.getByRole("button", { name: "Stop elm child" }).press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
    for (const name of ["elm grandchild", "elm child"]) await expect.poll(() => badge(page, name), PATIENCE).toBe("Stopped");
    expect(await item(page, "elm child").textContent()).not.toContain("never started");
    await page.getByRole("button", { name: "Stop elm child" }).waitFor({ state: "detached" });
    await page.getByRole("checkbox", { name: "Only running" }).check();
    await item(page, "elm child").waitFor({ state: "detached" });
  });

  test("one is steered with the keyboard on a phone, and goes on with the message", async () => {
    grows("ash");
    await say("agent:main:web:ash", "ash please");
    const page = await scene.open("subagents", { viewport: { width: 390, height: 844 } });
    await expect.poll(() => badge(page, "ash grandchild"), PATIENCE).toBe("Running");
    await page.getByRole("button", { name: "Steer ash grandchild" }).press("Enter");
    const box = page.getByRole("textbox", { name: "Message to ash grandchild" });
    await box.press("Escape");
    await box.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Steer ash grandchild" }).press("Enter");
    await page.keyboard.type("say w-leaf instead");
    await page.keyboard.press("Enter");
    await expect.poll(() => badge(page, "ash grandchild"), PATIENCE).toBe("Done");
    expect(model.requests.filter(({ user }) => user === "say w-leaf instead" || user.endsWith("say w-leaf instead"))).toHaveLength(1);
    const wide = await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
    expect(wide).toBe(false);
  });
});
