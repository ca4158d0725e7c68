export { parseDocument, type ConfigDocument, type DocumentIssue, type PathSegment, type Position, type ValuePath } from "./document.ts";
