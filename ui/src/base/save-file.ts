/** Long enough for the browser to begin with it. */
const HELD_MS = 60_000;

/** Gives the browser a file to store. */
export function saveFile(name: string, mimeType: string, parts: readonly BlobPart[]): void {
  const url = URL.createObjectURL(new Blob([...parts], { type: mimeType }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), HELD_MS);
}
