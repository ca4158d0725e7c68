export { readSecretFile } from "../newer/secret-files.ts";
