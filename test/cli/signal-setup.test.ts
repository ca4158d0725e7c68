import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isRunning } from "../../src/base/process-identity.ts";
import { startLabGateway } from "../conformance/channels/lab-gateway.ts";
import { freePort } from "../harness/free-port.ts";
import { startSignal, writeProgram } from "../fakes/signal/index.ts";

const PATIENCE = { timeout: 20_000, interval: 50 };

test("channels add with a number and an address connects the running gateway; wrong ones are refused before anything is written", async () => {
  await using signal = await startSignal();
  await using gateway = await startLabGateway();
  const refused = await gateway.cli("channels", "add", "--channel", "signal", "--signal-number", "anna");
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain("country code");
  const added = await gateway.cli("channels", "add", "--channel", "signal", "--signal-number", signal.world.me.number!, "--http-url", signal.url);
  expect(added.code, added.output).toBe(0);
  await expect.poll(() => signal.listeners(), PATIENCE).toBe(1);
});

test("channels add with a program starts it with the gateway's account, and it ends with the gateway", async () => {
  await using signal = await startSignal();
  const folder = mkdtempSync(join(tmpdir(), "signal-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { path, pids } = writeProgram(folder, { port: signal.server.port });
  await using gateway = await startLabGateway();
  const port = String(await freePort());
  const added = await gateway.cli(
    "channels",
    "add",
    "--channel",
    "signal",
    "--signal-number",
    signal.world.me.number!,
    "--cli-path",
    path,
    "--http-port",
    port,
  );
  expect(added.code, added.output).toBe(0);
  await expect.poll(() => signal.listeners(), PATIENCE).toBe(1);
  expect(pids()).toHaveLength(1);
  // What a killed gateway leaves behind is ended by the next one.
  await gateway.kill();
  await gateway.start();
  await expect.poll(() => [pids().length, signal.listeners()], PATIENCE).toEqual([2, 1]);
  await gateway.stop();
  await expect.poll(() => signal.listeners(), PATIENCE).toBe(0);
  expect(pids().map((pid) => isRunning({ pid }))).toEqual([false, false]);
});
