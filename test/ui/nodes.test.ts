import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createDevice } from "../harness/auth.ts";
import { visit } from "../harness/device-client.ts";
import { makePlace } from "../harness/gateway-process.ts";
import { programArguments } from "../harness/program.ts";
import { connectNode } from "../nodes/lab.ts";
import { TOKEN } from "../security/start.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { logIn, openScene, type Scene } from "./harness/scene.ts";

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };
const CLIENT = { id: "node-host", mode: "node", version: "1.2.3", platform: "linux" } as const;

describeInBrowser("the page of nodes", () => {
  const auth = { mode: "token", token: TOKEN };
  let scene: Scene;
  let wsUrl: string;
  beforeAll(async () => {
    scene = await openScene({ config: { gateway: { auth, nodes: { denyCommands: ["system.notify"] } } } });
    wsUrl = scene.url.replace("http", "ws");
  });
  afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
  afterAll(() => scene?.[Symbol.asyncDispose]());

  const open = async (path: string, options = {}, on = scene): Promise<Page> => {
    const page = await (await on.window(options)).newPage();
    await page.goto(`${on.url}/${path}`);
    await logIn(page, TOKEN);
    return page;
  };
  const row = (page: Page, name: string): Locator => page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
  /** What is in it stands beside its frame. */
  const inspector = (page: Page): Locator => page.locator("oc-inspector");
  /** A node on another machine, which asks to be approved. */
  async function ask(
    displayName: string,
    device = createDevice(),
    offers: { readonly commands: string[]; readonly caps?: string[] } = { commands: ["system.which"] },
  ) {
    const how = {
      device,
      token: TOKEN,
      role: "node",
      scopes: [],
      from: "203.0.113.9",
      params: { client: { ...CLIENT, displayName }, ...offers },
    };
    await using refused = await visit(wsUrl, how);
    expect(refused.answer.error).toMatchObject({ code: "NOT_PAIRED" });
    return how;
  }

  test("without nodes the page says how to add one, and what it says works when it is pasted", { timeout: 60_000 }, async () => {
    await using fresh = await openScene({ config: { gateway: { auth } } });
    const page = await open("nodes", {}, fresh);
    await page.getByText("No nodes yet").waitFor();
    const command = await page.locator("oc-add-node code").last().textContent();
    expect(command).toMatch(/^openclaw node run --host 127\.0\.0\.1 --port \d+$/);
    await page.getByRole("button", { name: "Copy the command that starts the node" }).waitFor();
    const place = makePlace();
    mkdirSync(place.stateDir, { recursive: true, mode: 0o700 });
    const [, ...args] = command!.split(" ");
    const env = { ...place.env, OPENCLAW_GATEWAY_TOKEN: TOKEN };
    const child = spawn(process.execPath, [...programArguments(), ...args], { env, cwd: place.home, stdio: "ignore" });
    try {
      await page.getByRole("row").getByText("Online").waitFor();
      await page.getByText("No nodes yet").waitFor({ state: "detached" });
    } finally {
      child.kill("SIGKILL");
      await once(child, "close");
    }
    await page.getByRole("row").getByText("Offline").waitFor();
  });

  test("a request says in plain words what the machine could be asked to do, here and in the question of the palette", async () => {
    const page = await open("nodes");
    await ask("Porch", createDevice(), { commands: ["system.run", "camera.snap", "coffee.make"], caps: ["camera", "location"] });
    const card = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Porch" }) });
    const words = ["Run programs on it", "Take pictures and videos with its cameras", "Other: coffee.make", "Tell where it is"];
    for (const text of words) await card.getByRole("listitem").getByText(text).waitFor();
    await card.getByText("camera.snap").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search or run" }).fill("approve node porch");
    await page.getByRole("option", { name: /^Approve node Porch…/ }).click();
    const question = page.getByRole("dialog").filter({ hasText: "Approve node Porch?" });
    for (const text of words) await question.getByRole("listitem").getByText(text).waitFor();
    await question.getByRole("button", { name: "Cancel" }).click();
    await card.getByRole("button", { name: "Reject Porch" }).click();
    await card.waitFor({ state: "detached" });
  });

  test("a request appears while the page is open, is on the overview, and is approved with the keyboard; another is rejected on a phone", async () => {
    const page = await open("nodes");
    await page.getByRole("heading", { name: "Nodes" }).waitFor();
    const how = await ask("Garden shed");
    const approve = page.getByRole("button", { name: "Approve Garden shed" });
    await approve.waitFor();
    const overview = await open("overview");
    await overview.getByText("New node wants to connect").waitFor();
    await overview.getByText("Garden shed, Linux").waitFor();
    await approve.press("Enter");
    await page.getByText("Garden shed was approved.").waitFor();
    await row(page, "Garden shed").getByText("Offline").waitFor();
    await using node = await visit(wsUrl, how);
    expect(node.answer.ok).toBe(true);
    await row(page, "Garden shed").getByText("Online").waitFor();

    const phone = await open("nodes", PHONE);
    await ask("Stranger");
    await phone.getByRole("button", { name: "Reject Stranger" }).click();
    await phone.getByText("Stranger was rejected.").waitFor();
    await phone.getByRole("button", { name: "Reject Stranger" }).waitFor({ state: "detached" });
    const wide = await phone.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
    expect(wide).toBe(false);
  });

  test("the details name what is allowed and which key refuses the rest; allowing a command can be undone", async () => {
    await using node = await connectNode({ url: wsUrl }, { displayName: "Workshop", commands: ["system.which", "system.notify", "camera.snap"] });
    const page = await open(`nodes/${node.nodeId}`);
    const details = inspector(page);
    await details.getByRole("region", { name: "Allowed commands" }).getByText("system.which").waitFor();
    const refused = details.getByRole("region", { name: "Refused by the configuration" });
    await refused.getByRole("listitem").filter({ hasText: "system.notify" }).getByRole("link", { name: "gateway.nodes.denyCommands" }).waitFor();
    await refused.getByRole("listitem").filter({ hasText: "camera.snap" }).getByRole("link", { name: "gateway.nodes.allowCommands" }).waitFor();
    await refused.getByRole("button", { name: "Allow camera.snap" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Allow" }).click();
    await details.getByRole("region", { name: "Allowed commands" }).getByText("camera.snap").waitFor();
    const lists = () => (JSON.parse(readFileSync(scene.place.configPath, "utf8")) as { gateway: { nodes: object } }).gateway.nodes;
    expect(lists()).toEqual({ allowCommands: ["camera.snap"], denyCommands: ["system.notify"] });
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(lists).toEqual({ denyCommands: ["system.notify"] });
    await refused.getByRole("button", { name: "Allow camera.snap" }).waitFor();
  });

  test("a program is looked for on the node, the answer is shown and the command is among the recent ones", async () => {
    await using node = await connectNode({ url: wsUrl }, { displayName: "Attic", commands: ["system.which"] });
    const page = await open(`nodes/${node.nodeId}`);
    const details = inspector(page);
    await details.getByRole("textbox", { name: "Program" }).fill("git");
    await details.getByRole("button", { name: "Find" }).click();
    const { payload } = await node.event("node.invoke.request");
    expect(payload).toMatchObject({ command: "system.which", paramsJSON: '{"bins":["git"]}' });
    await node.ask("node.invoke.result", { id: payload!["id"], nodeId: node.nodeId, ok: true, payload: { bins: { git: "/usr/bin/git" } } });
    await details.getByText("git: /usr/bin/git").waitFor();
    await details.getByRole("region", { name: "Recent commands" }).getByRole("listitem").filter({ hasText: "system.which" }).getByText("done").waitFor();
  });

  test("a node is renamed with Undo, and removed after a question that names it", async () => {
    await using node = await connectNode({ url: wsUrl }, { displayName: "Old name" });
    const page = await open(`nodes/${node.nodeId}`);
    const name = page.getByRole("textbox", { name: "Name", exact: true });
    await name.fill("New name");
    await name.press("Enter");
    await page.getByText("The node is now called New name.").waitFor();
    await row(page, "New name").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await row(page, "Old name").waitFor();
    await inspector(page).getByRole("button", { name: "Remove Old name" }).click();
    await page.getByRole("dialog").getByText("Remove Old name?").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await row(page, "Old name").waitFor({ state: "detached" });
    expect(await node.closed).toMatchObject({ code: 1008 });
  });
});
