import { AppError } from "../../base/errors.ts";
import { clip } from "../../base/text.ts";

/** The error for something that must not be unpacked or copied. Names what it was, in a form that a terminal may show. */
export function refused(name: string, why: string, advice = "nothing was installed; do not trust this package"): AppError {
  return new AppError("INVALID_INPUT", `${JSON.stringify(clip(name, 200))}: ${why}; ${advice}`, { details: { entry: clip(name, 200) } });
}
