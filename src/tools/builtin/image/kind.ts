const KINDS: readonly { readonly mimeType: string; readonly starts: readonly number[]; readonly at8?: string }[] = [
  { mimeType: "image/png", starts: [0x89, 0x50, 0x4e, 0x47] },
  { mimeType: "image/jpeg", starts: [0xff, 0xd8, 0xff] },
  { mimeType: "image/gif", starts: [0x47, 0x49, 0x46, 0x38] },
  { mimeType: "image/webp", starts: [0x52, 0x49, 0x46, 0x46], at8: "WEBP" },
];

/** What an image is by its first bytes, whatever it is called. Undefined when no model can be shown it. */
export function imageType(bytes: Uint8Array): string | undefined {
  const at8 = Buffer.from(bytes.subarray(8, 12)).toString("latin1");
  return KINDS.find((kind) => kind.starts.every((byte, at) => bytes[at] === byte) && (kind.at8 === undefined || kind.at8 === at8))?.mimeType;
}
