export { readJsonFileWithFallback, writeJsonFileAtomically } from "../values/files.ts";
