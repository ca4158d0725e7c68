/** The gateway or the extension comes and goes. */
import { createServer } from "node:http";
import { expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { openRelayLab } from "./relay-lab.ts";

test("a tab shared before the gateway listens waits for it, and comes back after the gateway ended", async () => {
  await using relay = await openRelayLab();
  const { chrome, lab } = relay;
  const page = await relay.share("/item?n=early");
  await expect.poll(() => chrome.badge(page)).toBe("…");
  expect(await chrome.isDebugged(page)).toBe(false);
  const agent = relay.agent();
  expect(await agent.text({ action: "tabs" })).toContain("n=early");
  await expect.poll(() => chrome.badge(page)).toBe("ON");
  await lab.lazy[Symbol.asyncDispose]();
  await expect.poll(() => chrome.badge(page)).toBe("…");
  await expect.poll(() => chrome.isDebugged(page)).toBe(false);
  // The user's page works on.
  await page.goto(lab.at("/item?n=later"));
  await expect.poll(() => agent.text({ action: "tabs" })).toContain("n=later");
  await expect.poll(() => chrome.badge(page)).toBe("ON");
});

test("without the extension the answer says what to do", async () => {
  await using relay = await openRelayLab();
  expect(await relay.agent().failure({ action: "tabs" })).toMatch(
    /no tab of Chrome is shared: the OpenClaw extension did not connect to port \d+ within 5 seconds/,
  );
  const page = await relay.share("/item?n=now");
  await expect.poll(() => relay.chrome.badge(page)).toBe("ON");
  expect(await relay.agent().text({ action: "tabs" })).toContain("n=now");
  await relay.chrome[Symbol.asyncDispose]();
  await expect.poll(() => relay.lab.opened.browser.status("chrome").running).toBe(false);
  expect(await relay.agent().failure({ action: "snapshot" })).toContain("no tab of Chrome is shared");
});

test("a program that took the port is given no tab, and is shown as one that does not know the secret", async () => {
  await using relay = await openRelayLab();
  const heard: string[] = [];
  const impostor = createServer();
  const sockets = new WebSocketServer({ server: impostor });
  sockets.on("connection", (socket) => {
    socket.on("message", (data: Buffer) => {
      heard.push(data.toString());
      socket.send(JSON.stringify({ type: "challenge", nonce: "0".repeat(32), proof: "0".repeat(64) }));
      socket.send('{"type":"ready"}');
      socket.send('{"type":"attach","id":1,"tab":1}');
    });
  });
  await new Promise<void>((resolve) => impostor.listen(relay.port, "127.0.0.1", resolve));
  const page = await relay.share("/item?n=not-for-you");
  await expect.poll(() => heard.length).toBeGreaterThan(1);
  await expect.poll(() => relay.chrome.badge(page)).toBe("!");
  expect(await relay.chrome.title(page)).toMatch(/does not know the secret/);
  expect(await relay.chrome.isDebugged(page)).toBe(false);
  expect(heard.every((text) => (JSON.parse(text) as { type: string }).type === "hello")).toBe(true);
  // The port is taken: the profile says so instead of waiting.
  expect(await relay.agent().failure({ action: "tabs" })).toContain("another program is listening on it");
  for (const socket of sockets.clients) socket.terminate();
  await new Promise((resolve) => impostor.close(resolve));
  await expect.poll(() => relay.chrome.badge(page)).toBe("…");
  expect(await relay.agent().text({ action: "tabs" })).toContain("n=not-for-you");
});

test("a wrong secret in the options is refused, the right one is taken", async () => {
  await using relay = await openRelayLab();
  const { chrome, port, secret } = relay;
  await chrome.enter({ port, secret: "0".repeat(64) });
  const page = await relay.share("/item?n=entered");
  expect(await relay.agent().failure({ action: "tabs" })).toContain("no tab of Chrome is shared");
  await expect.poll(() => chrome.badge(page)).toBe("!");
  await chrome.enter({ port, secret });
  await expect.poll(() => chrome.badge(page)).toBe("ON");
  expect(await relay.agent().text({ action: "tabs" })).toContain("n=entered");
});
