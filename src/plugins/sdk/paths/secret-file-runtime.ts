export { readSecretFileSync, tryReadSecretFileSync } from "../config/secret-files.ts";
