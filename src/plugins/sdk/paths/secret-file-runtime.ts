export { readSecretFileSync, tryReadSecretFileSync } from "../newer/secret-files.ts";
