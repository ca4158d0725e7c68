import { AppError } from "../../../base/errors.ts";

/** The number of `--port`, or of another flag that gives one. */
export function parsePort(text: string | undefined, lowest: 0 | 1 = 0, flag = "port"): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < lowest || port > 65_535)
    throw new AppError("INVALID_INPUT", `--${flag} takes a number from ${lowest} to 65535, not "${text}"`);
  return port;
}
