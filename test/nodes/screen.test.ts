/** The screen of a real X server. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { screenDevice } from "../../src/nodes/host/devices/screen.ts";
import { needProgram } from "../harness/packages.ts";

function needDisplay(context: TestContext): void {
  needProgram(context, "ffmpeg");
  needProgram(context, "Xvfb", "xvfb");
}

test("a recording of an X display shows that display", { timeout: 120_000 }, async (context) => {
  needDisplay(context);
  const server = spawn("Xvfb", ["-displayfd", "1", "-screen", "0", "320x240x24", "-nolisten", "tcp"], { stdio: ["ignore", "pipe", "ignore"] });
  const exited = once(server, "exit");
  try {
    const [line] = (await once(server.stdout, "data")) as [Buffer];
    const env = { PATH: process.env["PATH"], DISPLAY: `:${String(line).trim()}` };
    const config = () => ({ nodeHost: { screen: { enabled: true } } });
    const device = screenDevice({ clock: systemClock, config, env, platform: "linux", folder: mkdtempSync(join(tmpdir(), "openclaw-node-")) });
    const [, run] = device.commands.find(([name]) => name === "screen.record")!;
    const call = { params: { durationMs: 500, fps: 10 }, signal: new AbortController().signal, begin: () => {}, progress: undefined };
    const made = (await run(call)) as { readonly base64: string };
    expect(made).toMatchObject({ format: "mp4", screenIndex: 0, fps: 10, hasAudio: false });
    const path = join(mkdtempSync(join(tmpdir(), "openclaw-screen-")), "screen.mp4");
    writeFileSync(path, Buffer.from(made.base64, "base64"));
    expect(spawnSync("ffmpeg", ["-hide_banner", "-i", path], { encoding: "utf8" }).stderr).toMatch(/Video: .* 320x240/);
    await expect(run({ ...call, params: { screenIndex: 1 } })).rejects.toThrow("there is no screen 1");
  } finally {
    server.kill();
    await exited;
  }
});
