export { readJsonFileWithFallback, writeJsonFileAtomically } from "../files.ts";
