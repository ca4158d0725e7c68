import { AppError } from "../../../base/errors.ts";

/** The number of `--port`. */
export function parsePort(given: string | undefined, lowest: 0 | 1 = 0): number | undefined {
  if (given === undefined) return undefined;
  const port = Number(given);
  if (!/^\d+$/.test(given) || port < lowest || port > 65_535)
    throw new AppError("INVALID_INPUT", `--port takes a number from ${lowest} to 65535, not "${given}"`);
  return port;
}
