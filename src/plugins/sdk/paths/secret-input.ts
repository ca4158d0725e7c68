export * from "../config/secrets.ts";
export { registerSensitiveConfigSchema } from "../values/small.ts";
export { resolveSecretInputString } from "../config/secret-contract.ts";
