export { readSecretFile } from "../config/secret-files.ts";
