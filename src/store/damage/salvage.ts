import { AppError } from "../../base/errors.ts";
import type { SalvageOptions, SalvageReport } from "./types.ts";

export function salvage(_options: SalvageOptions): SalvageReport {
  throw new AppError("UNAVAILABLE", "salvage is not built yet");
}
