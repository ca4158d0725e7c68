const SEGMENT = "[A-Za-z0-9][A-Za-z0-9_.-]*";
const ID = new RegExp(`^(?:@${SEGMENT}/)?${SEGMENT}(?:/${SEGMENT})?$`);
/** Names that mean something else as a key of an object. */
const RESERVED = new Set(["constructor", "prototype"]);
const MAX_LENGTH = 128;

/** How an id must look, for messages. */
export const ID_FORM = `up to ${MAX_LENGTH} letters, digits, "-", "_" and ".", as in "voice-call", "@team/voice" or "pack/voice"`;

/** True for an id that is safe as a key of the configuration and as the name of a folder: it can never lead out of the folder it is put in. */
export function isPluginId(id: string): boolean {
  return id.length <= MAX_LENGTH && ID.test(id) && !id.includes("..") && !id.split("/").some((part) => part.endsWith(".") || RESERVED.has(part));
}
