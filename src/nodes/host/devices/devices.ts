import { cameraDevice } from "./camera.ts";
import type { Device, DeviceDeps } from "./device.ts";
import { locationDevice } from "./location.ts";
import { screenDevice } from "./screen.ts";

export type { Device, DeviceDeps } from "./device.ts";
export { removeFormerRecordings } from "./recordings.ts";

/** What of this machine sees and hears, with the reason where it may not or cannot. */
export const hostDevices = (deps: DeviceDeps): readonly Device[] => [cameraDevice(deps), screenDevice(deps), locationDevice(deps)];
