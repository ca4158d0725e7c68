/** Whether this is Linux inside Windows. */
import { readFileSync } from "node:fs";
import { envValue } from "../host-binding.ts";

export function isWSLEnv(): boolean {
  return ["WSL_INTEROP", "WSL_DISTRO_NAME", "WSLENV"].some((name) => envValue(name) !== undefined);
}

function kernel(): string {
  if (process.platform !== "linux") return "";
  try {
    return readFileSync("/proc/version", "utf8").toLowerCase();
  } catch {
    return "";
  }
}

export function isWSLSync(): boolean {
  return process.platform === "linux" && (isWSLEnv() || /microsoft|wsl/.test(kernel()));
}

/** With a kernel of its own. */
export function isWSL2Sync(): boolean {
  return isWSLSync() && /wsl2|microsoft-standard/.test(kernel());
}
