/** Permissions (`execGranted`) are decided here alone: they are never written to a file, and never trusted from one. */
const PRIVATE_FIELDS: ReadonlySet<string> = new Set(["execGranted"]);

export function isPrivateField(field: string): boolean {
  return PRIVATE_FIELDS.has(field);
}
