export * from "../secrets.ts";
export { registerSensitiveConfigSchema } from "../newer/small.ts";
export { resolveSecretInputString } from "../newer/secret-contract.ts";
