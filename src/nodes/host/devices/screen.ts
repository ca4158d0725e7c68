import { inheritedEnvironment } from "../../../base/inherited-environment.ts";
import { run } from "../../../base/spawn.ts";
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
  type Recording,
} from "./device.ts";

interface Wanted {
  readonly screenIndex: number;
  readonly durationMs: number;
  readonly fps: number;
  readonly sound: Input | undefined;
}

/** How screens are recorded here. */
interface Recorder {
  readonly text: string;
  readonly format: "mp4" | "mov";
  readonly hasSound: boolean;
  recording(wanted: Wanted, signal: AbortSignal): Promise<Pick<Recording, "program" | "args">>;
}

const PERMISSION = "SCREEN_RECORDING_PERMISSION_REQUIRED";
const MOST_WIDTH = 1920;
const MOST_SCREENS = 16;
const LIST_MS = 5000;

/** Where the monitors of a display are, as `xrandr --listmonitors` prints it. */
export function monitorsIn(listed: string): readonly { readonly size: string; readonly offset: string }[] {
  return [...listed.matchAll(/^\s*\d+:\s+\S+\s+(\d+)\/\d+x(\d+)\/\d+\+(-?\d+)\+(-?\d+)/gm)].map(([, width, height, x, y]) => ({
    size: `${width}x${height}`,
    offset: `+${x},${y}`,
  }));
}

const onlyFirst = (screenIndex: number, count: number): void => {
  if (screenIndex >= count) throw invalid(`there is no screen ${screenIndex}; this node has ${count === 1 ? "one, number 0" : `${count}, from 0`}`);
};

function byFfmpeg(program: string, text: string, inputFor: (wanted: Wanted, signal: AbortSignal) => Promise<Input>): Recorder {
  return {
    text,
    format: "mp4",
    hasSound: true,
    async recording(wanted, signal) {
      const { durationMs, fps, sound } = wanted;
      const input = await inputFor(wanted, signal);
      return { program, args: (file) => [...QUIET, ...input, ...(sound ?? ["-an"]), ...asMp4(durationMs, { mostWidth: MOST_WIDTH, fps }), file] };
    },
  };
}

function ofX11(ffmpeg: string, display: string, deps: DeviceDeps): Recorder {
  const xrandr = findProgram("xrandr", deps);
  return byFfmpeg(ffmpeg, `ffmpeg, display ${display}`, async ({ screenIndex, fps }, signal) => {
    const grab = ["-f", "x11grab", "-framerate", String(fps)];
    let monitors: ReturnType<typeof monitorsIn> = [];
    try {
      if (xrandr !== undefined) {
        const options = { args: ["--listmonitors"], env: inheritedEnvironment(deps.env), timeoutMs: LIST_MS, maxOutputBytes: 65_536, signal };
        monitors = monitorsIn((await run(xrandr, options)).stdout);
      }
    } catch (error) {
      throw deviceError(error, PERMISSION);
    }
    onlyFirst(screenIndex, Math.max(1, monitors.length));
    const monitor = monitors[screenIndex];
    return monitor ? [...grab, "-video_size", monitor.size, "-i", `${display}${monitor.offset}`] : [...grab, "-i", display];
  });
}

/** A compositor of the wlroots family gives its picture to this program only while it runs. */
const ofWayland = (recorder: string, timeout: string): Recorder => ({
  text: "wf-recorder",
  format: "mp4",
  hasSound: false,
  async recording({ screenIndex, durationMs, fps }) {
    onlyFirst(screenIndex, 1);
    return {
      program: timeout,
      args: (file) => ["--preserve-status", "--signal=INT", String(durationMs / 1000), recorder, "--overwrite", "--no-damage", "-r", String(fps), "-f", file],
    };
  },
});

const ofMac = (program: string): Recorder => ({
  text: "screencapture",
  format: "mov",
  hasSound: false,
  recording: async ({ screenIndex, durationMs }) => ({
    program,
    args: (file) => ["-x", "-D", String(screenIndex + 1), "-V", String(Math.ceil(durationMs / 1000)), file],
  }),
});

/** The way that works here; a text says why there is none. */
function recorderFor(deps: DeviceDeps): Recorder | string {
  const { config, env, platform } = deps;
  const { input } = config().nodeHost?.screen ?? {};
  const ffmpeg = findProgram("ffmpeg", deps);
  if (input !== undefined && input.length > 0) {
    return ffmpeg === undefined
      ? "ffmpeg is not installed"
      : byFfmpeg(ffmpeg, "ffmpeg, with nodeHost.screen.input", async ({ screenIndex }) => (onlyFirst(screenIndex, 1), input));
  }
  if (platform === "darwin") {
    const program = findProgram("screencapture", deps);
    return program === undefined ? "screencapture is not on PATH" : ofMac(program);
  }
  if (platform !== "linux") return `recording the screen of ${platform} is not supported`;
  if (env["WAYLAND_DISPLAY"]) {
    const [recorder, timeout] = [findProgram("wf-recorder", deps), findProgram("timeout", deps)];
    return recorder === undefined || timeout === undefined ? "a Wayland desktop needs wf-recorder" : ofWayland(recorder, timeout);
  }
  const display = env["DISPLAY"];
  if (!display) return "the node runs without a display (DISPLAY is not set)";
  return ffmpeg === undefined ? "ffmpeg is not installed" : ofX11(ffmpeg, display, deps);
}

/** `screen.record`. */
export function screenDevice(deps: DeviceDeps): Device {
  if (deps.config().nodeHost?.screen?.enabled !== true) return turnedOff("screen");
  const recorder = recorderFor(deps);
  if (typeof recorder === "string") return unavailable("screen", `not available here: ${recorder}`);
  const { format, hasSound, text, recording } = recorder;

  async function recordScreen(call: HostCall): Promise<unknown> {
    const fields = fieldsOf(call.params);
    const durationMs = durationIn(fields, 10_000);
    const fps = numberIn(fields, "fps", { least: 1, most: 30, fallback: 10 });
    const screenIndex = Math.floor(numberIn(fields, "screenIndex", { least: 0, most: MOST_SCREENS, fallback: 0 }));
    const sound = fields["includeAudio"] === false || !hasSound ? undefined : microphone(deps);
    const { program, args } = await recording({ screenIndex, durationMs, fps, sound }, call.signal);
    const content = await record({ program, args, extension: format, timeoutMs: durationMs + START_MS, permission: PERMISSION }, deps, call);
    return { format, base64: content.toString("base64"), durationMs, fps, screenIndex, hasAudio: sound !== undefined };
  }

  return { name: "screen", text, commands: [["screen.record", oneAtATime("screen")(recordScreen)]] };
}
