import { existsSync } from "node:fs";

/** Where a bundle has the files of this module, relative to the chunk that contains this code. */
const BUNDLED = ["./memory/", "../memory/", "../../memory/"];

/** A file that is shipped with the program: trained weights, groups of words. */
export function dataFile(name: string): URL {
  if (import.meta.url.endsWith(".ts")) return new URL(`./data/${name}`, import.meta.url);
  for (const folder of BUNDLED) {
    const url = new URL(`${folder}${name}`, import.meta.url);
    if (existsSync(url)) return url;
  }
  return new URL(`./memory/${name}`, import.meta.url);
}
