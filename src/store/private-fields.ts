/** Who was allowed what (`execGranted`) is decided here alone: it is never written to a file, and never believed from one. */
const PRIVATE_FIELDS: ReadonlySet<string> = new Set(["execGranted"]);

export function isPrivateField(field: string): boolean {
  return PRIVATE_FIELDS.has(field);
}
