/** Devices that ask to be paired with the gateway. */
import { requireHost } from "../host-binding.ts";

export interface DevicePairingPendingRequest {
  requestId: string;
  deviceId: string;
  publicKey: string;
  displayName?: string | undefined;
  platform?: string | undefined;
  clientId?: string | undefined;
  clientMode?: string | undefined;
  role?: string | undefined;
  roles?: string[] | undefined;
  scopes?: string[] | undefined;
  remoteIp?: string | undefined;
  caps?: string[] | undefined;
  commands?: string[] | undefined;
  silent?: boolean | undefined;
  isRepair?: boolean | undefined;
  ts: number;
}

export interface PairedDevice extends Omit<DevicePairingPendingRequest, "requestId" | "caps" | "commands" | "silent" | "isRepair" | "ts"> {
  createdAtMs: number;
  approvedAtMs: number;
}

export interface DevicePairingList {
  pending: DevicePairingPendingRequest[];
  paired: PairedDevice[];
}

/** What the gateway offers for it. */
export interface DevicePairingPort {
  list(): Promise<DevicePairingList>;
  /** `null`: nobody asked with this id. */
  approve(requestId: string): Promise<{ requestId: string; device: PairedDevice } | null>;
  reject(requestId: string): Promise<{ requestId: string; deviceId: string } | null>;
}

/** Who waits and who is paired. The folder of older hosts is not used: the gateway knows where its devices are. */
export async function listDevicePairing(_baseDir?: string): Promise<DevicePairingList> {
  return requireHost("listDevicePairing", "devicePairing").list();
}

export async function approveDevicePairing(requestId: string, _baseDir?: string): Promise<{ requestId: string; device: PairedDevice } | null> {
  return requireHost("approveDevicePairing", "devicePairing").approve(requestId);
}

export async function rejectDevicePairing(requestId: string, _baseDir?: string): Promise<{ requestId: string; deviceId: string } | null> {
  return requireHost("rejectDevicePairing", "devicePairing").reject(requestId);
}
