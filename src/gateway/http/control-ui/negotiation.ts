/** Forms in which a file may be sent, the smallest first. */
export type Encoding = "br" | "gzip" | "identity";

/** How the form beside a file is named. */
export const SUFFIX: Readonly<Record<Encoding, string>> = { br: ".br", gzip: ".gz", identity: "" };

const OURS: readonly Encoding[] = ["br", "gzip"];

/** Weights of an `Accept-Encoding` header, by name in lower case. What has no readable weight is not wanted. */
function weights(header: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const part of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    const weight = parameters.find((text) => /^q\s*=/.test(text))?.replace(/^q\s*=\s*/, "");
    if (name !== "") found.set(name, weight === undefined ? 1 : /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0);
  }
  return found;
}

/** Forms that the caller takes, in the order in which they should be tried. The plain one is always among them: nobody is left without an answer. */
export function acceptedEncodings(header: string | undefined): readonly Encoding[] {
  const wanted = weights(header ?? "");
  const weightOf = (name: Encoding): number => wanted.get(name) ?? (name === "gzip" ? wanted.get("x-gzip") : undefined) ?? wanted.get("*") ?? 0;
  const taken = OURS.filter((name) => weightOf(name) > 0).sort((a, b) => weightOf(b) - weightOf(a));
  return [...taken, "identity"];
}

/** True when the caller has this version already. */
export function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === "*" || header.split(",").some((known) => known.trim().replace(/^W\//, "") === etag);
}
