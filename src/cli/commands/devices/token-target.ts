import { AppError } from "../../../base/errors.ts";

export const TOKEN_OPTIONS = {
  device: { type: "string", value: "id", help: "the device (see: openclaw devices list)" },
  role: { type: "string", value: "role", help: "operator or node" },
} as const;

/** Whose token is meant. */
export function tokenTarget({ device, role }: { readonly device?: string | undefined; readonly role?: string | undefined }): {
  deviceId: string;
  role: string;
} {
  if (!device || !role) throw new AppError("INVALID_INPUT", `expected --device <id> and --role <role>, got ${device ? "no role" : "no device"}`);
  return { deviceId: device, role };
}
