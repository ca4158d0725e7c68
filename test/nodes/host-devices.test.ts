import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { messageOf } from "../../src/base/errors.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import type { HostCall } from "../../src/nodes/host/run-command.ts";
import { linuxCameras, macCameras } from "../../src/nodes/host/devices/camera.ts";
import type { Device, DeviceDeps } from "../../src/nodes/host/devices/device.ts";
import { hostDevices } from "../../src/nodes/host/devices/devices.ts";
import { positionIn } from "../../src/nodes/host/devices/location.ts";
import { monitorsIn } from "../../src/nodes/host/devices/screen.ts";
import { needProgram } from "../harness/packages.ts";

type NodeHost = NonNullable<OpenClawConfig["nodeHost"]>;

const PATH = process.env["PATH"]!;
const folder = (): string => mkdtempSync(join(tmpdir(), "openclaw-devices-"));

/** A folder with programs that stand in for devices. */
function programs(scripts: Readonly<Record<string, string>>): string {
  const path = folder();
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(path, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(path, name), 0o755);
  }
  return path;
}

function devices(nodeHost: NodeHost, over: Partial<DeviceDeps> = {}): Readonly<Record<Device["name"], Device>> {
  const deps: DeviceDeps = { clock: manualClock(), config: () => ({ nodeHost }), env: { PATH }, platform: "linux", folder: folder(), ...over };
  return Object.fromEntries(hostDevices(deps).map((device) => [device.name, device])) as Record<Device["name"], Device>;
}

let begun = 0;
async function invoke({ commands }: Device, command: string, params: object = {}, signal = new AbortController().signal): Promise<Record<string, unknown>> {
  const call: HostCall = { params, signal, begin: () => (begun += 1), progress: undefined };
  return (await commands.find(([name]) => name === command)![1](call)) as Record<string, unknown>;
}

const lavfi = (source: string): string[] => ["-f", "lavfi", "-i", source];
const CAMERA = { enabled: true, sources: [{ name: "door", input: lavfi("testsrc=size=640x480:rate=10") }] };

describe("without the operator's word", () => {
  test("nothing of this machine is offered, and the reason names the key", () => {
    const found = devices({ camera: { sources: CAMERA.sources }, screen: { input: lavfi("testsrc") }, location: { command: ["true"] } });
    expect(Object.values(found).flatMap(({ commands }) => commands)).toEqual([]);
    expect(Object.values(found).map(({ text }) => text)).toEqual(
      ["camera", "screen", "location"].map((name) => `off; turn it on with nodeHost.${name}.enabled`),
    );
  });

  test("clips have no sound, whatever is asked for", async (context) => {
    needProgram(context, "ffmpeg");
    const { camera } = devices({ camera: CAMERA, microphone: { input: lavfi("sine") } });
    expect(await invoke(camera, "camera.clip", { durationMs: 300, includeAudio: true })).toMatchObject({ hasAudio: false });
  });
});

test("what a machine lacks is not offered, with the reason", () => {
  const on = { camera: { enabled: true }, screen: { enabled: true }, location: { enabled: true } };
  const bare = devices(on, { env: { PATH: folder() } });
  expect(Object.values(bare).map(({ commands, text }) => [commands.length, text])).toEqual([
    [0, "not available here: ffmpeg is not installed"],
    [0, "not available here: the node runs without a display (DISPLAY is not set)"],
    [0, expect.stringContaining("not available here: geoclue's where-am-i is not installed")],
  ]);
  const windows = devices(on, { platform: "win32" });
  expect(Object.values(windows).map(({ commands }) => commands.length)).toEqual([0, 0, 0]);
  expect(devices(on, { env: { PATH: folder(), WAYLAND_DISPLAY: "wayland-0", DISPLAY: ":0" } }).screen.text).toContain("a Wayland desktop needs wf-recorder");
});

describe("cameras", () => {
  test("pictures have the asked width, and are taken once per call", async (context) => {
    needProgram(context, "ffmpeg");
    const { camera } = devices({ camera: CAMERA });
    expect(await invoke(camera, "camera.list")).toEqual({ devices: [{ id: "door", name: "door", position: "front", deviceType: "configured" }] });
    const before = begun;
    const picture = await invoke(camera, "camera.snap", { maxWidth: 320, quality: 0.5, delayMs: 0 });
    expect(begun - before).toBe(1);
    expect(picture).toMatchObject({ format: "jpg", width: 320, height: 240, deviceId: "door" });
    expect(Buffer.from(String(picture["base64"]), "base64").subarray(0, 3)).toEqual(Buffer.from([0xff, 0xd8, 0xff]));
    await expect(invoke(camera, "camera.snap", { facing: "back" })).rejects.toMatchObject({
      code: "CAMERA_UNAVAILABLE",
      message: expect.stringContaining("no back camera"),
    });
    await expect(invoke(camera, "camera.snap", { deviceId: "attic" })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });

  test("clips have the asked length, and sound where the microphone is turned on", async (context) => {
    needProgram(context, "ffmpeg");
    const { camera } = devices({ camera: CAMERA, microphone: { enabled: true, input: lavfi("sine") } });
    const clip = await invoke(camera, "camera.clip", { durationMs: 700 });
    expect(clip).toMatchObject({ format: "mp4", durationMs: 700, hasAudio: true });
    const path = join(folder(), "clip.mp4");
    writeFileSync(path, Buffer.from(String(clip["base64"]), "base64"));
    const shown = spawnSync("ffmpeg", ["-hide_banner", "-i", path], { encoding: "utf8" }).stderr;
    expect([/Duration: 00:00:00\.(\d)/.exec(shown)?.[1], /Audio:/.test(shown), /Video: \w+/.test(shown)]).toEqual(["7", true, true]);
  });

  test.each([[{ durationMs: 60_001 }], [{ durationMs: -1 }], [{ durationMs: "9" }], [{ durationMs: Number.NaN }]])(
    "%j is refused before anything runs",
    async (params) => {
      const path = programs({ ffmpeg: "exit 9" });
      const { camera } = devices({ camera: CAMERA }, { env: { PATH: `${path}:${PATH}` } });
      await expect(invoke(camera, "camera.clip", params)).rejects.toMatchObject({ code: "INVALID_REQUEST", message: expect.stringContaining("durationMs") });
    },
  );

  test("a recording that is too large does not leave the machine", async () => {
    const path = programs({ ffmpeg: 'for last; do :; done; head -c 9000000 /dev/zero > "$last"' });
    const { camera } = devices({ camera: CAMERA }, { env: { PATH: `${path}:${PATH}` } });
    await expect(invoke(camera, "camera.clip", { durationMs: 1000 })).rejects.toThrow("the recording has more than 8388608 bytes");
  });

  test("a failure says what the program said, without the password of the camera, and nothing is left on disk", async () => {
    const seen = join(folder(), "seen");
    const path = programs({ ffmpeg: `pwd > ${seen}; echo "rtsp://me:hunter2@cam/1: Connection refused" >&2; exit 1` });
    const { camera } = devices({ camera: CAMERA }, { env: { PATH: `${path}:${PATH}` } });
    const error = await invoke(camera, "camera.snap").catch((failure: unknown) => failure as Error);
    expect((error as Error).message).toBe("ffmpeg ended with code 1: rtsp://…@cam/1: Connection refused");
    expect(() => readFileSync(readFileSync(seen, "utf8").trim())).toThrow("ENOENT");
  });

  test("one command at a time uses the camera, and a cancelled one gives it back", async () => {
    const path = programs({ ffmpeg: "exec sleep 60" });
    const { camera } = devices({ camera: CAMERA }, { env: { PATH: `${path}:${PATH}` } });
    const stop = new AbortController();
    const first = invoke(camera, "camera.snap", {}, stop.signal).then(() => "taken", messageOf);
    await expect(invoke(camera, "camera.clip", { durationMs: 500 })).rejects.toThrow("the camera is in use by another command");
    stop.abort();
    expect(await first).toContain("was cancelled");
    await expect(invoke(camera, "camera.clip", { durationMs: 500, includeAudio: false }, stop.signal)).rejects.toThrow("was cancelled");
  });

  test("of a camera of Linux the device with the pictures counts, by number", () => {
    const sys = folder();
    for (const [device, name, index] of [
      ["video10", "Attic", "0"],
      ["video2", "Webcam", "0"],
      ["video3", "Webcam", "1"],
      ["vbi0", "TV", "0"],
    ] as const) {
      mkdirSync(join(sys, device));
      writeFileSync(join(sys, device, "name"), `${name}\n`);
      writeFileSync(join(sys, device, "index"), `${index}\n`);
    }
    expect(linuxCameras(sys).map(({ id, name }) => [id, name])).toEqual([
      ["/dev/video2", "Webcam"],
      ["/dev/video10", "Attic"],
    ]);
    expect(linuxCameras(join(sys, "none"))).toEqual([]);
  });

  test("of a Mac's list the cameras count, not its screens and microphones", () => {
    const line = (text: string): string => `[AVFoundation indev @ 0x7f] ${text}`;
    const listed = ["AVFoundation video devices:", "[0] FaceTime HD Camera", "[1] Capture screen 0", "AVFoundation audio devices:", "[0] Microphone"]
      .map(line)
      .join("\n");
    expect(macCameras(listed).map(({ id, name }) => [id, name])).toEqual([["0", "FaceTime HD Camera"]]);
  });
});

describe("screens", () => {
  test("a recording has the asked rate and says so", async (context) => {
    needProgram(context, "ffmpeg");
    const { screen } = devices({ screen: { enabled: true, input: lavfi("testsrc=size=1280x720") } });
    expect(await invoke(screen, "screen.record", { durationMs: 400, fps: 5 })).toMatchObject({
      format: "mp4",
      durationMs: 400,
      fps: 5,
      screenIndex: 0,
      hasAudio: false,
    });
    await expect(invoke(screen, "screen.record", { screenIndex: 1 })).rejects.toThrow("there is no screen 1; this node has one, number 0");
  });

  test.each([
    ["X11", { DISPLAY: ":7" }, "linux", ["-f", "x11grab", "-framerate", "12", "-video_size", "1280x800", "-i", ":7+1920,40"]],
    ["Wayland", { WAYLAND_DISPLAY: "wayland-0" }, "linux", undefined],
    ["a Mac", {}, "darwin", ["-x", "-D", "2", "-V", "1"]],
  ] as const)("on %s the program of the platform is asked for the screen that is meant", async (_, env, platform, expected) => {
    const writes = 'echo "$0" "$@" > "${0%/*}/asked"; for last; do :; done; echo x > "$last"';
    const xrandr = 'echo "Monitors: 2"; echo " 0: +*eDP-1 1920/344x1080/193+0+0  eDP-1"; echo " 1: +HDMI-1 1280/300x800/200+1920+40  HDMI-1"';
    const path = programs({ ffmpeg: writes, screencapture: writes, "wf-recorder": writes, xrandr });
    const { screen } = devices({ screen: { enabled: true } }, { env: { PATH: `${path}:${PATH}`, ...env }, platform });
    const index = expected === undefined ? 0 : 1;
    expect(await invoke(screen, "screen.record", { screenIndex: index, durationMs: 800, fps: 12 })).toMatchObject({
      screenIndex: index,
      format: platform === "darwin" ? "mov" : "mp4",
    });
    const asked = readFileSync(join(path, "asked"), "utf8");
    expect(asked).toContain((expected ?? ["--overwrite", "--no-damage", "-r", "12", "-f"]).join(" "));
  });

  test("monitors are read with their place", () => {
    expect(monitorsIn("Monitors: 1\n 0: +*eDP-1 1920/344x1080/193+10+20  eDP-1\n")).toEqual([{ size: "1920x1080", offset: "+10,20" }]);
  });
});

const GEOCLUE = "Client object: /org/1\n\nNew location:\nLatitude:    52.520008°\nLongitude:   13.404954°\nAccuracy:    25000.000000 meters\n";

describe("locations", () => {
  test("the position of a program is given with its accuracy, and not asked for again while it is young enough", async () => {
    const clock = manualClock();
    const count = join(folder(), "count");
    const command = ["sh", "-c", `echo x >> ${count}; echo '{"latitude": "48.5", "longitude": 9.25, "h_accuracy": 12, "speed": -1}'`];
    const { location } = devices({ location: { enabled: true, command } }, { clock });
    const found = await invoke(location, "location.get");
    expect(found).toEqual({ lat: 48.5, lon: 9.25, accuracyMeters: 12, isPrecise: true, source: "sh", timestamp: new Date(clock.now()).toISOString() });
    await invoke(location, "location.get", { maxAgeMs: 60_000 });
    expect(readFileSync(count, "utf8")).toBe("x\n");
    await invoke(location, "location.get");
    expect(readFileSync(count, "utf8")).toBe("x\nx\n");
  });

  test("geoclue's program, which goes on, is ended with its first position", async () => {
    const path = programs({ "where-am-i": `echo "$@" > "\${0%/*}/asked"; printf '${GEOCLUE}'; exec sleep 60` });
    const { location } = devices({ location: { enabled: true } }, { env: { PATH: `${path}:${PATH}` } });
    expect(await invoke(location, "location.get", { desiredAccuracy: "coarse", timeoutMs: 30_000 })).toMatchObject({
      lat: 52.520_008,
      lon: 13.404_954,
      accuracyMeters: 25_000,
      isPrecise: false,
      source: "geoclue",
    });
    expect(readFileSync(join(path, "asked"), "utf8")).toBe("-t 30 -a 4\n");
  });

  test.each([
    ["exec sleep 60", "LOCATION_TIMEOUT", "no position within 200 ms"],
    ["echo 'access denied' >&2; exit 1", "LOCATION_PERMISSION_REQUIRED", "access denied"],
    ['echo \'{"lat": 95, "lon": 0}\'', "LOCATION_UNAVAILABLE", "printed no position"],
  ])("%s gives %s", async (script, code, text) => {
    const { location } = devices({ location: { enabled: true, command: ["sh", "-c", script] } });
    const timeoutMs = code === "LOCATION_TIMEOUT" ? 200 : 20_000;
    await expect(invoke(location, "location.get", { timeoutMs })).rejects.toMatchObject({ code, message: expect.stringContaining(text) });
  });

  test("of several positions the last counts", () => {
    expect(positionIn(`${GEOCLUE}${GEOCLUE.replace("52.520008", "-33,5")}`)).toMatchObject({ lat: -33.5, lon: 13.404_954 });
    expect(positionIn("Latitude: 1\n")).toBeUndefined();
  });
});
