import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../../base/spawn.ts";
import { inheritedEnvironment } from "../../../base/inherited-environment.ts";
import { loadImages } from "../../../media/index.ts";
import { HostError } from "../host-error.ts";
import type { HostCall } from "../run-command.ts";
import {
  asMp4,
  deviceError,
  durationIn,
  fieldsOf,
  findProgram,
  invalid,
  microphone,
  numberIn,
  oneAtATime,
  QUIET,
  record,
  START_MS,
  turnedOff,
  unavailable,
  type Device,
  type DeviceDeps,
  type Input,
} from "./device.ts";

interface Camera {
  readonly id: string;
  readonly name: string;
  readonly deviceType: "configured" | "v4l2" | "avfoundation";
  /** What ffmpeg opens. */
  readonly input: Input;
}

const PERMISSION = "CAMERA_PERMISSION_REQUIRED";
const DEFAULT_WIDTH = 1600;
const CLIP_WIDTH = 1280;
const MOST_WIDTH = 4096;
/** The first pictures of a camera are dark. */
const DELAY_MS = 500;
const LIST_MS = 10_000;

/** Cameras of Linux. A camera has several devices; the first has the pictures. */
export function linuxCameras(folder = "/sys/class/video4linux"): readonly Camera[] {
  const read = (device: string, name: string): string => {
    try {
      return readFileSync(join(folder, device, name), "utf8").trim();
    } catch {
      return "";
    }
  };
  let devices: readonly string[];
  try {
    devices = readdirSync(folder).filter((device) => /^video\d+$/.test(device) && ["", "0"].includes(read(device, "index")));
  } catch {
    return [];
  }
  return devices
    .toSorted((a, b) => Number(a.slice(5)) - Number(b.slice(5)))
    .map((device) => {
      const id = `/dev/${device}`;
      return { id, name: read(device, "name") || device, deviceType: "v4l2", input: ["-f", "v4l2", "-i", id] };
    });
}

/** Cameras of a Mac, as ffmpeg lists them. Screens are in the list too. */
export function macCameras(listed: string): readonly Camera[] {
  const video = listed.split(/AVFoundation audio devices/)[0] ?? "";
  return [...video.matchAll(/\] \[(\d+)\] (.+)$/gm)]
    .filter(([, , name = ""]) => !name.startsWith("Capture screen"))
    .map(([, index = "", name = ""]) => ({
      id: index,
      name: name.trim(),
      deviceType: "avfoundation",
      input: ["-f", "avfoundation", "-framerate", "30", "-i", `${index}:none`],
    }));
}

/** Cameras that the operator named, instead of those that are found. */
function configuredCameras({ config }: DeviceDeps): readonly Camera[] {
  return (config().nodeHost?.camera?.sources ?? []).map(({ name, input }) => ({ id: name, name, deviceType: "configured", input }));
}

async function macList(ffmpeg: string, { env }: DeviceDeps, signal: AbortSignal): Promise<readonly Camera[]> {
  const args = ["-hide_banner", "-f", "avfoundation", "-list_devices", "true", "-i", ""];
  try {
    // It ends with an error: there is nothing to open.
    const { stderr } = await run(ffmpeg, { args, env: inheritedEnvironment(env), timeoutMs: LIST_MS, maxOutputBytes: 65_536, signal });
    return macCameras(stderr);
  } catch (error) {
    throw deviceError(error, PERMISSION);
  }
}

const SIDES = ["front", "back"] as const;

/** Without positions of their own, the first camera counts as the front one and the second as the back one. */
const positionOf = (index: number): string => SIDES[index] ?? "unspecified";

function cameraFor(cameras: readonly Camera[], { deviceId, facing = "front" }: Readonly<Record<string, unknown>>): Camera {
  if (typeof deviceId === "string" && deviceId !== "") {
    const named = cameras.find(({ id, name }) => id === deviceId || name === deviceId);
    if (named) return named;
    throw invalid(`there is no camera ${JSON.stringify(deviceId.slice(0, 100))}; camera.list names them`);
  }
  if (facing !== "front" && facing !== "back") throw invalid("facing must be front or back");
  const found = cameras[SIDES.indexOf(facing)];
  if (found) return found;
  throw new HostError(
    "CAMERA_UNAVAILABLE",
    cameras.length === 0 ? "no camera is connected" : `there is no ${facing} camera here; the only one counts as front`,
  );
}

/** `camera.list`, `camera.snap` and `camera.clip`, by ffmpeg. */
export function cameraDevice(deps: DeviceDeps): Device {
  const { platform, config } = deps;
  if (config().nodeHost?.camera?.enabled !== true) return turnedOff("camera");
  const configured = configuredCameras(deps);
  if (configured.length === 0 && platform !== "linux" && platform !== "darwin")
    return unavailable("camera", `not available here: cameras of ${platform} are not supported`);
  const ffmpeg = findProgram("ffmpeg", deps);
  if (ffmpeg === undefined) return unavailable("camera", "not available here: ffmpeg is not installed");
  const find = async (signal: AbortSignal): Promise<readonly Camera[]> =>
    configured.length > 0 ? configured : platform === "darwin" ? await macList(ffmpeg, deps, signal) : linuxCameras();
  // Asking a Mac opens its question for permission: that is for the first call.
  const known = configured.length > 0 ? configured : platform === "darwin" ? undefined : linuxCameras();
  if (known?.length === 0) return unavailable("camera", "not available here: no camera was found");

  const alone = oneAtATime("camera");

  async function snap(call: HostCall): Promise<unknown> {
    const fields = fieldsOf(call.params);
    const width = numberIn(fields, "maxWidth", { least: 16, most: MOST_WIDTH, fallback: DEFAULT_WIDTH });
    const quality = numberIn(fields, "quality", { least: 0, most: 1, fallback: 0.9 });
    const delayMs = numberIn(fields, "delayMs", { least: 0, most: 10_000, fallback: DELAY_MS });
    const { id, input } = cameraFor(await find(call.signal), fields);
    const picture = ["-ss", String(delayMs / 1000), "-frames:v", "1", "-vf", `scale='min(${Math.round(width)},iw)':-2`];
    const args = (file: string): readonly string[] => [
      ...QUIET,
      ...input,
      "-an",
      ...picture,
      "-q:v",
      String(Math.round(2 + (1 - quality) * 29)),
      "-update",
      "1",
      file,
    ];
    const content = await record({ program: ffmpeg!, args, extension: "jpg", timeoutMs: delayMs + START_MS, permission: PERMISSION }, deps, call);
    const size = (await loadImages()).imageSize(content);
    return { format: "jpg", base64: content.toString("base64"), ...(size ? { width: size.width, height: size.height } : {}), deviceId: id };
  }

  async function clip(call: HostCall): Promise<unknown> {
    const fields = fieldsOf(call.params);
    const durationMs = durationIn(fields, 3000);
    const { id, input } = cameraFor(await find(call.signal), fields);
    const sound = fields["includeAudio"] === false ? undefined : microphone(deps);
    const args = (file: string): readonly string[] => [...QUIET, ...input, ...(sound ?? ["-an"]), ...asMp4(durationMs, { mostWidth: CLIP_WIDTH }), file];
    const content = await record({ program: ffmpeg!, args, extension: "mp4", timeoutMs: durationMs + START_MS, permission: PERMISSION }, deps, call);
    return { format: "mp4", base64: content.toString("base64"), durationMs, hasAudio: sound !== undefined, deviceId: id };
  }

  return {
    name: "camera",
    text: known === undefined ? "ffmpeg, with the cameras of this Mac" : known.map(({ id, name }) => (id === name ? name : `${name} (${id})`)).join(", "),
    commands: [
      [
        "camera.list",
        async ({ signal }) => ({
          devices: (await find(signal)).map(({ id, name, deviceType }, index) => ({ id, name, position: positionOf(index), deviceType })),
        }),
      ],
      ["camera.snap", alone(snap)],
      ["camera.clip", alone(clip)],
    ],
  };
}
