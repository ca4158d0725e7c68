import { valueAt } from "./value.ts";

/** The version that last wrote the file, when it is newer than `own`. */
export function newerVersion(config: unknown, own: string | undefined): string | undefined {
  const touched = valueAt(config, ["meta", "lastTouchedVersion"]);
  if (own === undefined || typeof touched !== "string") return undefined;
  const [theirs, ours] = [parts(touched), parts(own)];
  if (!theirs || !ours) return undefined;
  const at = theirs.findIndex((part, index) => part !== (ours[index] ?? 0));
  return at >= 0 && theirs[at]! > (ours[at] ?? 0) ? touched : undefined;
}

function parts(version: string): number[] | undefined {
  const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version.trim());
  return match ? match.slice(1).map((part) => Number(part ?? 0)) : undefined;
}
